-- Spawns: what handlers have spawned, and under which key.

-- name: look
-- What a task that spawns hands on, whether an attempt of it may still spawn, and what it has
-- spawned under a key. No row: the task was pruned. No id: nothing. No state: that was pruned.
SELECT p.generation, p.priority, p.tags, p.created_by, p.on_behalf_of, p.space, p.deadline, p.boost_per_minute, p.dag_id,
       p.claim_id = :claim_id::uuid AND p.state = 'RUNNING' AND p.cancel_requested_at IS NULL AS stands,
       s.task_id, s.generation AS spawned_in, s.request_hash, c.state, c.result::text AS result
  FROM tasks p LEFT JOIN spawns s ON s.spawned_by = p.id AND s.key = :key::text LEFT JOIN tasks c ON c.id = s.task_id
 WHERE p.id = :task_id::uuid

-- name: lock
-- Locks a task that spawns: its attempt neither ends nor is lost before the transaction does.
-- No row: the task was pruned.
SELECT FROM tasks WHERE id = :task_id::uuid FOR NO KEY UPDATE

-- name: extent
-- How many tasks a task has spawned, and how many stand above it that each spawned the next,
-- counted up to a limit. Always one row.
WITH RECURSIVE line AS (
    SELECT spawned_by, 0 AS depth FROM tasks WHERE id = :task_id::uuid
    UNION ALL
    SELECT t.spawned_by, line.depth + 1
      FROM line, LATERAL (SELECT spawned_by FROM tasks WHERE id = line.spawned_by) t
     WHERE line.depth < :depth_max::integer
)
SELECT (SELECT count(*) FROM spawns WHERE spawned_by = :task_id::uuid) AS spawned, max(depth) AS depth FROM line

-- name: remember
-- Keeps what was spawned under a key, in place of what was cancelled. No row: always.
INSERT INTO spawns (spawned_by, key, task_id, generation, request_hash)
VALUES (:spawned_by::uuid, :key::text, :task_id::uuid, :generation::integer, :request_hash::bytea)
ON CONFLICT (spawned_by, key)
DO UPDATE SET task_id = excluded.task_id, generation = excluded.generation, request_hash = excluded.request_hash

-- name: needs_others
-- Whether a task depends on others, or has some below it that may. Always one row.
SELECT EXISTS (SELECT FROM task_edges WHERE task_id = :task_id::uuid)
       OR EXISTS (SELECT FROM tasks WHERE parent_id = :task_id::uuid) AS needs_others

-- name: take_turn
-- Waits until nobody else looks for a circle that is about to close, and keeps it so until
-- the transaction ends. Always one row.
SELECT pg_advisory_xact_lock(hashtextextended('circles', 0))

-- name: leads_back
-- Whether a task needs another, however indirectly: what it and the batches around it depend
-- on, what is below it, and its earlier siblings. Always one row.
WITH RECURSIVE needs AS (
    SELECT id, parent_id, position, ancestors FROM tasks WHERE id = :task_id::uuid
    UNION
    SELECT n.id, n.parent_id, n.position, n.ancestors
      FROM needs x,
           LATERAL (SELECT e.depends_on AS id FROM task_edges e
                     WHERE e.task_id = x.id OR e.task_id = ANY(x.ancestors)
                    UNION ALL
                    SELECT c.id FROM tasks c WHERE c.parent_id = x.id
                    UNION ALL
                    SELECT s.id FROM tasks s WHERE s.parent_id = x.parent_id AND s.position < x.position) next,
           LATERAL (SELECT id, parent_id, position, ancestors FROM tasks
                     WHERE tasks.id = next.id AND state IN {unfinished}) n
)
SELECT EXISTS (SELECT FROM needs WHERE id = :waiting_id::uuid) AS leads_back
