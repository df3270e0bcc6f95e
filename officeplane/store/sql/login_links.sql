-- Links: with each of them one logs in, once.

-- name: insert
-- Stores a link. Always one row.
INSERT INTO login_links (digest, scopes, created_by, expires_at)
VALUES (:digest::bytea, :scopes::text[], :created_by::text,
        clock_timestamp() + make_interval(secs => :for_seconds::float8))
RETURNING expires_at

-- name: spend
-- Spends the link whose token has this digest. No row: there is none, it has expired or was spent before.
UPDATE login_links SET spent_at = clock_timestamp()
 WHERE digest = :digest::bytea AND spent_at IS NULL AND expires_at > clock_timestamp()
RETURNING scopes, created_by

-- name: prune
-- Removes links that expired so long ago. No row: there are none.
DELETE FROM login_links
 WHERE digest IN (SELECT digest FROM login_links
                   WHERE expires_at < clock_timestamp() - make_interval(secs => :after_seconds::float8)
                   LIMIT :limit::integer)
RETURNING digest
