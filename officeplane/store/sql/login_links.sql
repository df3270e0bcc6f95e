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
