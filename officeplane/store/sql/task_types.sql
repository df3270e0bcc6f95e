-- Types: of tasks that no handler does, as they are declared.

-- name: declare
-- Declares a type, or declares it anew. Always one row.
INSERT INTO task_types AS t (name, title, payload_schema, result_schema, defaults)
VALUES (:name::text, :title::text, :payload_schema::jsonb, :result_schema::jsonb, :defaults::jsonb)
ON CONFLICT (name) DO UPDATE SET title = excluded.title, payload_schema = excluded.payload_schema,
    result_schema = excluded.result_schema, defaults = excluded.defaults, changed_at = clock_timestamp()
RETURNING name

-- name: changed
-- Every declared type, if that is no longer the version that is known, with the version; a row without a name if
-- there is none. No row: nothing has changed.
SELECT v.version, t.name, t.title, t.payload_schema, t.result_schema, t.defaults
  FROM task_types_version v LEFT JOIN task_types t ON true
 WHERE v.version <> :known::bigint
 ORDER BY t.name
