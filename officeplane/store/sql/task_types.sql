-- Types: of tasks that no handler does, as they are declared.

-- name: lock
-- Waits until nobody else changes what is declared, and keeps it so until the transaction ends. Always one row.
SELECT version FROM task_types_version FOR UPDATE

-- name: count
-- How many types are declared. Always one row.
SELECT count(*) AS n FROM task_types

-- name: facts
-- What a type was declared as; of its schemas only what tells them from others. No row: it was not declared.
SELECT jsonb_build_object('title', title, 'defaults', defaults, 'payloadSchema', md5(payload_schema::text),
                          'resultSchema', md5(result_schema::text))::text AS facts
  FROM task_types WHERE name = :name::text

-- name: unfinished
-- Whether agents have anything to do of a type, in whatever space. No row: nothing.
SELECT 1 AS found FROM tasks
 WHERE demand_id IN (SELECT id FROM demands WHERE task_type = :name::text) AND state IN {unfinished} LIMIT 1

-- name: remove
-- Has a type be declared no longer. No row: it was not.
DELETE FROM task_types WHERE name = :name::text RETURNING name

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
