-- Statistics: counts for people and for scrapers.

-- part: counted
-- Adds up what `counts` says of attempts that have ended: of which type, how and why.
INSERT INTO task_counters AS c (counted_by, task_type, outcome, reason, count)
    SELECT :counted_by::text, task_type, outcome, reason, count(*) FROM counts GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
    ON CONFLICT (counted_by, task_type, outcome, reason) DO UPDATE SET count = c.count + excluded.count

-- name: counts
-- How many tasks are in each state, by tier. No row: there is no task.
SELECT state, tier_of(priority) AS tier, count(*) AS count FROM tasks GROUP BY 1, 2

-- name: unfinished_counts
-- How many runnable tasks wait, by state and tier. No row: none waits.
SELECT state, rung_tier AS tier, count(*) AS count FROM tasks
 WHERE runnable AND state IN {claimable} GROUP BY 1, 2

-- name: oldest_wait
-- How long the task has waited that waits longest and could run. Left out is what somebody or
-- something holds back on purpose: types that are paused, slowed down, behind their breaker or
-- at their limits (of a rate: those that are using it up), paused documents, and lanes whose
-- head is held or not due. Of a type that no worker knows all waits in earnest. Null: none waits.
WITH kept AS MATERIALIZED (
    SELECT v.task_type FROM valves v
     WHERE v.paused OR v.breaker <> 'closed' OR v.slow_until > clock_timestamp()
        OR {tokens} < greatest(1, v.rate_per_second)
        OR v.concurrency <= (SELECT count(*) FROM tasks a
                              WHERE a.runnable AND a.state IN {active} AND a.task_type = v.task_type)
), suspected AS (
    SELECT document_id FROM tasks
     WHERE runnable AND document_id IS NOT NULL AND state = 'RETRYING' AND run_at > clock_timestamp()
    UNION
    SELECT document_id FROM tasks
     WHERE EXISTS (SELECT FROM kept) AND runnable AND document_id IS NOT NULL AND state IN {claimable}
       AND task_type IN (SELECT task_type FROM kept)
), stuck AS MATERIALIZED (
    SELECT s.document_id FROM suspected s,
           LATERAL (SELECT task_type, run_at FROM tasks
                     WHERE tasks.document_id = s.document_id AND runnable AND state IN {claimable}
                       AND (NOT yields OR run_at <= clock_timestamp() AND task_type NOT IN (SELECT task_type FROM kept))
                     ORDER BY rank, seq LIMIT 1) head
     WHERE head.run_at > clock_timestamp() OR head.task_type IN (SELECT task_type FROM kept)
)
SELECT extract(epoch FROM clock_timestamp() - min(queued_at))::float8 AS seconds FROM tasks
 WHERE runnable AND state IN {claimable} AND run_at <= clock_timestamp()
   AND task_type NOT IN (SELECT task_type FROM kept)
   AND NOT EXISTS (SELECT FROM stuck WHERE stuck.document_id = tasks.document_id)
   AND NOT EXISTS ({pause_of} tasks.document_id)

-- name: unresolved_letters
-- How many dead letters wait for a decision. Always one row.
SELECT count(*) AS count FROM dead_letters WHERE resolved_at IS NULL

-- name: unsettled_dags
-- How many DAGs are under way or have failed. No row for a status: none.
SELECT status, count(*) AS count FROM dags WHERE status IN ('running', 'failed') GROUP BY 1

-- name: counters
-- What has ended so far, by type, outcome and reason. No row: nothing has.
SELECT task_type, outcome, reason, sum(count)::bigint AS count FROM task_counters GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
