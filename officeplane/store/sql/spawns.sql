-- Spawns: what handlers have spawned, and under which key.

-- name: look
-- What a task that spawns hands on, whether an attempt of it may still spawn, and what it has
-- spawned under a key. No row: the task was pruned. No id: nothing. No state: that was pruned.
SELECT p.generation, p.priority, p.tags, p.created_by, p.deadline, p.boost_per_minute, p.dag_id,
       p.claim_id = $2::uuid AND p.state = 'RUNNING' AND p.cancel_requested_at IS NULL AS stands,
       s.task_id, s.generation AS spawned_in, s.request_hash, c.state, c.result::text AS result
  FROM tasks p LEFT JOIN spawns s ON s.spawned_by = p.id AND s.key = $3::text LEFT JOIN tasks c ON c.id = s.task_id
 WHERE p.id = $1::uuid

-- name: lock
-- Locks a task that spawns: its attempt neither ends nor is lost before the transaction does.
-- No row: the task was pruned.
SELECT FROM tasks WHERE id = $1::uuid FOR NO KEY UPDATE

-- name: extent
-- How many tasks a task has spawned, and how many stand above it that each spawned the next,
-- counted up to a limit. Always one row.
WITH RECURSIVE line AS (
    SELECT spawned_by, 0 AS depth FROM tasks WHERE id = $1::uuid
    UNION ALL
    SELECT t.spawned_by, line.depth + 1
      FROM line, LATERAL (SELECT spawned_by FROM tasks WHERE id = line.spawned_by) t
     WHERE line.depth < $2::integer
)
SELECT (SELECT count(*) FROM spawns WHERE spawned_by = $1::uuid) AS spawned, max(depth) AS depth FROM line

-- name: remember
-- Keeps what was spawned under a key, in place of what was cancelled. No row: always.
INSERT INTO spawns (spawned_by, key, task_id, generation, request_hash)
VALUES ($1::uuid, $2::text, $3::uuid, $4::integer, $5::bytea)
ON CONFLICT (spawned_by, key)
DO UPDATE SET task_id = excluded.task_id, generation = excluded.generation, request_hash = excluded.request_hash
