-- Spaces: which there are, what they may use and what they use.

-- part: quotas
max_waiting_tasks, max_documents, max_bytes, max_revisions_per_document, submissions_per_minute, uploads_per_minute,
max_streams, max_waits, max_agents

-- name: all
-- Every space with its quotas; `is_set` false: nobody has said any. Always a row, for the default space.
SELECT known.name, s.name IS NOT NULL AS is_set, {quotas}
  FROM (SELECT 'default' AS name UNION SELECT space FROM api_keys UNION SELECT name FROM spaces) known
  LEFT JOIN spaces s ON s.name = known.name
 ORDER BY known.name <> 'default', known.name

-- name: quotas
-- The quotas of a space. No row: nobody has said any.
SELECT {quotas} FROM spaces WHERE name = :space::text

-- name: lock
-- The same, locked, by whoever changes them. No row: nobody has said any.
SELECT {quotas} FROM spaces WHERE name = :space::text FOR NO KEY UPDATE

-- name: set
-- Says what a space may use. No row: there is no such space.
INSERT INTO spaces (name, {quotas})
SELECT :space::text, :max_waiting_tasks::bigint, :max_documents::bigint, :max_bytes::bigint,
       :max_revisions_per_document::bigint, :submissions_per_minute::bigint, :uploads_per_minute::bigint,
       :max_streams::bigint, :max_waits::bigint, :max_agents::bigint
 WHERE :space::text = 'default' OR EXISTS (SELECT FROM api_keys WHERE space = :space::text)
    OR EXISTS (SELECT FROM spaces WHERE name = :space::text)
ON CONFLICT (name) DO UPDATE SET max_waiting_tasks = excluded.max_waiting_tasks, max_documents = excluded.max_documents,
    max_bytes = excluded.max_bytes, max_revisions_per_document = excluded.max_revisions_per_document,
    submissions_per_minute = excluded.submissions_per_minute, uploads_per_minute = excluded.uploads_per_minute,
    max_streams = excluded.max_streams, max_waits = excluded.max_waits, max_agents = excluded.max_agents
RETURNING name

-- name: waiting_tasks
-- How many tasks of a space wait. Always one row. The two halves have an index each.
SELECT (SELECT count(*) FROM tasks WHERE :space::text <> 'default' AND space <> 'default' AND space = :space::text
           AND state IN {waiting})
     + (SELECT count(*) FROM tasks WHERE :space::text = 'default' AND space = 'default' AND state IN {waiting}) AS count

-- name: waiting_tasks_of_caller
-- How many tasks of a space wait that somebody has submitted. Always one row. The two halves have an index each.
SELECT (SELECT count(*) FROM tasks WHERE :space::text <> 'default' AND space <> 'default' AND space = :space::text
           AND created_by = :caller::text AND state IN {waiting})
     + (SELECT count(*) FROM tasks WHERE :space::text = 'default' AND space = 'default'
           AND created_by = :caller::text AND state IN {waiting}) AS count

-- name: documents
-- How many documents a space has. Always one row.
SELECT count(*) AS count FROM documents WHERE space = :space::text AND deleted_at IS NULL

-- name: documents_of_caller
-- How many documents a space has that somebody has made. Always one row.
SELECT count(*) AS count FROM documents
 WHERE space = :space::text AND made_by = :caller::text AND deleted_at IS NULL

-- name: fullest
-- How many revisions the one of these documents has that has most. Null: none of them is there.
SELECT max(head) AS count FROM documents WHERE id = ANY(:document_ids::text[]) AND deleted_at IS NULL
