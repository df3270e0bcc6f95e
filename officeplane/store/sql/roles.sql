-- Roles: the owner of the schema, and the app as which processes run.

-- name: role
-- Always one row: what is known of a role, and what we, the owner, may do.
SELECT EXISTS (SELECT FROM pg_roles WHERE rolname = :role::text) AS exists,
       current_user = :role::text AS is_us,
       rolsuper OR rolcreaterole AS may_make_roles
  FROM pg_roles
 WHERE rolname = current_user
