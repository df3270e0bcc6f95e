-- Roles: the owner of the schema, and the app as which processes run.

-- name: role
-- Always one row: what is known of the role $1, and what we, the owner, may do.
SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = $1::text) AS exists,
       current_user = $1::text AS is_us,
       rolsuper OR rolcreaterole AS may_make_roles
  FROM pg_roles
 WHERE rolname = current_user
