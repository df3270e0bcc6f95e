-- Keys: by which callers are known.

-- part: columns
id, name, shown, scopes, created_by, created_at, expires_at, revoked_at, last_used_at, replaced_by,
space, documents, task_types, most_urgent, agents, quotas

-- part: reachable
-- Of a key: the caller could give it, and so has to do with it. An entry with its `*` is compared as if it were a name;
-- what stands for no document fits the empty pattern only.
(:seen_space::text IS NULL OR space = :seen_space::text)
AND (:seen_documents::text[] IS NULL OR documents IS NOT NULL AND NOT EXISTS (
     SELECT FROM unnest(documents) AS entry
      WHERE NOT CASE entry WHEN '-' THEN '' ELSE entry END LIKE ANY(:seen_documents::text[])))
AND (:seen_types::text[] IS NULL OR task_types IS NOT NULL AND NOT EXISTS (
     SELECT FROM unnest(task_types) AS entry WHERE NOT entry LIKE ANY(:seen_types::text[])))
AND (:seen_agents::text[] IS NULL OR agents IS NOT NULL AND NOT EXISTS (
     SELECT FROM unnest(agents) AS entry WHERE NOT entry LIKE ANY(:seen_agents::text[])))
AND most_urgent >= :most_urgent_seen::smallint

-- name: insert
-- Stores a key. No row: another of its space that was neither replaced nor revoked has its name, or there was one of this digest.
INSERT INTO api_keys (id, name, digest, shown, scopes, created_by, expires_at,
                      space, documents, task_types, most_urgent, agents, quotas)
VALUES (:id::uuid, :name::text, :digest::bytea, :shown::text, :scopes::text[], :created_by::text,
        :expires_at::timestamptz,
        :space::text, :documents::text[], :task_types::text[], :most_urgent::smallint, :agents::text[],
        :quotas::jsonb)
ON CONFLICT DO NOTHING
RETURNING {columns}

-- name: version
-- How often any key has changed. Always one row.
SELECT version FROM api_keys_version

-- name: hold
-- Keeps others from changing keys until the transaction ends. Always one row.
SELECT version FROM api_keys_version FOR UPDATE

-- name: was_known
-- Whether there ever was a key whose text has this digest. No row: never.
SELECT FROM api_keys WHERE digest = :digest::bytea

-- name: of_digest
-- The key whose text has this digest, if it works, and in how many seconds it expires, if it does. No row: there is none.
SELECT {columns}, extract(epoch FROM expires_at - clock_timestamp())::float8 AS expires_in FROM api_keys
 WHERE digest = :digest::bytea AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())

-- name: of_id
-- The key of an id, if it works. No row: it does not.
SELECT {columns} FROM api_keys
 WHERE id = :id::uuid AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())

-- name: page
-- Keys by their ids, those that do not work any more too. No row: there are none after that one, for this caller.
SELECT {columns} FROM api_keys
 WHERE id > :after::uuid AND (:space::text IS NULL OR space = :space::text) AND {reachable}
 ORDER BY id LIMIT :limit::integer

-- name: fetch
-- A key. No row: there is none of this id, for this caller.
SELECT {columns} FROM api_keys WHERE id = :id::uuid AND {reachable}

-- name: named
-- The key of a name that was neither replaced nor revoked. No row: its space has none, for this caller.
SELECT {columns} FROM api_keys
 WHERE space = :space::text AND name = :name::text AND revoked_at IS NULL AND replaced_by IS NULL AND {reachable}

-- name: lock
-- A key that works and was not replaced, locked. No row: there is none of this id, for this caller.
SELECT {columns} FROM api_keys
 WHERE id = :id::uuid AND revoked_at IS NULL AND replaced_by IS NULL
   AND (expires_at IS NULL OR expires_at > clock_timestamp()) AND {reachable}
   FOR NO KEY UPDATE

-- name: change
-- Gives a key, which the caller has locked, another name or has it do something else. No row: its space has a key of
-- this name.
UPDATE api_keys k
   SET name = :name::text, scopes = :scopes::text[], expires_at = :expires_at::timestamptz,
       documents = :documents::text[], task_types = :task_types::text[], most_urgent = :most_urgent::smallint,
       agents = :agents::text[], quotas = :quotas::jsonb
 WHERE id = :id::uuid
   AND NOT EXISTS (SELECT FROM api_keys o WHERE o.space = k.space AND o.name = :name::text AND o.id <> k.id
                      AND o.revoked_at IS NULL AND o.replaced_by IS NULL)
RETURNING {columns}

-- name: replace
-- Notes which key came in place of another, which works for so long yet. Always one row.
UPDATE api_keys
   SET replaced_by = :successor::uuid,
       expires_at = least(expires_at, clock_timestamp() + make_interval(secs => :overlap_seconds::float8))
 WHERE id = :id::uuid
RETURNING id

-- name: revoke
-- Revokes a key; once is enough. No row: there is none of this id, for this caller.
UPDATE api_keys SET revoked_at = coalesce(revoked_at, clock_timestamp())
 WHERE id = :id::uuid AND {reachable}
RETURNING {columns}

-- name: revoke_named
-- Revokes all keys of a name, those that were replaced too. No row: its space has none that is not revoked, for this
-- caller.
UPDATE api_keys SET revoked_at = clock_timestamp()
 WHERE space = :space::text AND name = :name::text AND revoked_at IS NULL AND {reachable}
RETURNING {columns}

-- name: used
-- Notes when keys were used last. No row: they are gone.
UPDATE api_keys k SET last_used_at = greatest(k.last_used_at, used.at)
  FROM unnest(:ids::uuid[], :at::timestamptz[]) AS used(id, at)
 WHERE k.id = used.id
RETURNING k.id

-- name: has_admin
-- Whether any key of the default space works that may make others. No row: none does.
SELECT FROM api_keys
 WHERE space = 'default' AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp()) AND 'admin' = ANY(scopes)
 LIMIT 1

-- name: working
-- How many keys work. Always one row.
SELECT count(*) AS keys FROM api_keys
 WHERE revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())
