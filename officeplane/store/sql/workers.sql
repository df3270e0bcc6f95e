-- Workers: who is alive, and who leads which chore.

-- name: beat
-- Says that a worker is alive. Always one row.
INSERT INTO workers AS w (id, host, pid, concurrency, running, task_types, last_seen_at,
                          blocked_since, blocked_task_id, blocked_task_type, blocked_at, confinement)
VALUES (:worker_id::text, :host::text, :pid::integer, :concurrency::integer, :running::integer, :task_types::text[],
        clock_timestamp(), clock_timestamp() - make_interval(secs => :blocked_seconds::float8),
        :blocked_task_id::uuid, :blocked_task_type::text, :blocked_at::text, :confinement::text[])
ON CONFLICT (id) DO UPDATE SET running = excluded.running, last_seen_at = excluded.last_seen_at,
    blocked_since = excluded.blocked_since, blocked_task_id = excluded.blocked_task_id,
    blocked_task_type = excluded.blocked_task_type, blocked_at = excluded.blocked_at,
    confinement = excluded.confinement
RETURNING id

-- name: leave
-- Takes a worker that stopped off the list, and off its chores. No row: it was not on it.
WITH gone AS (
    DELETE FROM workers WHERE id = :worker_id::text RETURNING id
), free AS (
    DELETE FROM chore_leaders WHERE worker_id = :worker_id::text
)
SELECT id FROM gone

-- name: died
-- Takes a worker off the list whose process was seen to end, and off its chores, and lets its
-- leases run out now: that is what the reaper waits for. No row: it was not on the list.
WITH gone AS (
    DELETE FROM workers WHERE host = :host::text AND pid = :pid::integer RETURNING id
), free AS (
    DELETE FROM chore_leaders WHERE worker_id IN (SELECT id FROM gone)
), lapsed AS (
    UPDATE tasks SET lease_until = clock_timestamp()
     WHERE runnable AND state IN {active} AND worker_id IN (SELECT id FROM gone) AND lease_until > clock_timestamp()
)
SELECT id FROM gone

-- name: alive
-- Workers seen within a time. No row: none.
SELECT id, host, pid, concurrency, running, task_types, started_at, last_seen_at,
       date_part('epoch', clock_timestamp() - last_seen_at) AS silent_seconds,
       date_part('epoch', clock_timestamp() - blocked_since) AS blocked_seconds, blocked_task_id, blocked_task_type,
       blocked_at, confinement
  FROM workers
 WHERE last_seen_at > clock_timestamp() - make_interval(secs => :within_seconds::float8) ORDER BY started_at, id

-- name: known_types
-- The task types that workers know which were seen within a time. No row: none was.
SELECT DISTINCT unnest(task_types) AS task_type FROM workers
 WHERE last_seen_at > clock_timestamp() - make_interval(secs => :within_seconds::float8)

-- name: lead
-- Takes or keeps the lead of chores nobody else leads. No row for a chore: another leads it.
INSERT INTO chore_leaders AS l (chore, worker_id, until)
SELECT chore, :worker_id::text, clock_timestamp() + make_interval(secs => :seconds::float8)
  FROM unnest(:chores::text[]) AS chore
ON CONFLICT (chore) DO UPDATE SET worker_id = excluded.worker_id, until = excluded.until
  WHERE l.worker_id = excluded.worker_id OR l.until <= clock_timestamp()
RETURNING chore

-- name: yield_lead
-- Gives up the lead of chores. No row: others lead them.
DELETE FROM chore_leaders WHERE worker_id = :worker_id::text AND chore = ANY(:chores::text[]) RETURNING chore

-- name: forget
-- Forgets workers not seen for long, and folds their counters, of which each may keep several under its
-- own name and a number, into one row a kind. Always one row.
WITH gone AS (
    DELETE FROM workers WHERE last_seen_at < clock_timestamp() - make_interval(secs => :silent_seconds::float8) RETURNING id
), folded AS (
    DELETE FROM task_counters c
     WHERE c.counted_by <> '' AND c.counted_by LIKE 'worker:%'
       AND NOT EXISTS (SELECT FROM workers w
                        WHERE w.id = split_part(c.counted_by, '/', 1)
                          AND w.last_seen_at >= clock_timestamp() - make_interval(secs => :silent_seconds::float8))
    RETURNING task_type, outcome, reason, count
), kept AS (
    INSERT INTO task_counters AS c (counted_by, task_type, outcome, reason, count)
    SELECT '', task_type, outcome, reason, sum(count) FROM folded GROUP BY 2, 3, 4
    ON CONFLICT (counted_by, task_type, outcome, reason) DO UPDATE SET count = c.count + excluded.count
)
SELECT count(*) AS forgotten FROM gone
