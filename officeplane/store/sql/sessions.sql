-- Sessions: people who have logged in.

-- part: columns
subject, login, scopes, key_id, created_at, seen_at

-- part: goes_on
ended_at IS NULL AND seen_at > clock_timestamp() - make_interval(secs => :idle_seconds::float8)
   AND created_at > clock_timestamp() - make_interval(secs => :longest_seconds::float8)

-- name: begin
-- Stores a session, in the place of the oldest of somebody who has so many others. Always one row.
WITH oldest AS (
    DELETE FROM sessions
     WHERE digest IN (SELECT digest FROM sessions WHERE login = :login::text AND subject = :subject::text
                       ORDER BY created_at DESC OFFSET :others::integer)
)
INSERT INTO sessions (digest, subject, login, scopes, key_id)
VALUES (:digest::bytea, :subject::text, :login::text, :scopes::text[], :key_id::uuid)
RETURNING digest

-- name: of_digest
-- The session whose token has this digest, and whether it is to be noted that it is in use. No row: none goes on.
SELECT {columns}, seen_at <= clock_timestamp() - make_interval(secs => :noted_seconds::float8) AS is_to_be_noted
  FROM sessions WHERE digest = :digest::bytea AND {goes_on}

-- name: see
-- Notes that a session is in use. No row: it has ended, or that was noted a short while ago.
UPDATE sessions SET seen_at = clock_timestamp()
 WHERE digest = :digest::bytea AND {goes_on}
   AND seen_at <= clock_timestamp() - make_interval(secs => :noted_seconds::float8)
RETURNING digest

-- name: end
-- Ends a session. No row: none goes on.
UPDATE sessions SET ended_at = clock_timestamp() WHERE digest = :digest::bytea AND {goes_on} RETURNING {columns}
