-- Demands: what tasks ask of whoever does them, each once.

-- name: find
-- The numbers of demands. No row: nobody has asked for that before.
SELECT id, digest FROM demands WHERE digest = ANY(:digests::bytea[])

-- name: add
-- Adds demands, in the order given, and tells their numbers. Always a row for each: whoever was
-- quicker is waited for, and its row is the one.
INSERT INTO demands (digest, space, task_type, capabilities, models, fallback_models)
SELECT digest, space, task_type,
       -- Postgres has no arrays of arrays of different lengths: these come as JSON.
       ARRAY(SELECT jsonb_array_elements_text(capabilities::jsonb)),
       ARRAY(SELECT jsonb_array_elements_text(models::jsonb)),
       ARRAY(SELECT jsonb_array_elements_text(fallback_models::jsonb))
  FROM unnest(:digests::bytea[], :spaces::text[], :task_types::text[],
              :capabilities::text[], :models::text[], :fallback_models::text[]) WITH ORDINALITY
           AS given(digest, space, task_type, capabilities, models, fallback_models, n)
 ORDER BY n
ON CONFLICT (digest) DO UPDATE SET digest = excluded.digest
RETURNING id, digest
