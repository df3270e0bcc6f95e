-- Statistics: counts for people and for scrapers.

-- name: counts
-- How many tasks are in each state, by tier. No row: there is no task.
SELECT state, tier_of(priority) AS tier, count(*) AS count FROM tasks GROUP BY 1, 2

-- name: unfinished_counts
-- How many runnable tasks wait, by state and tier. No row: none waits.
SELECT state, rung_tier AS tier, count(*) AS count FROM tasks
 WHERE runnable AND state IN {claimable} GROUP BY 1, 2

-- name: oldest_wait
-- How long the longest waiting runnable task has waited. Null: none waits.
SELECT extract(epoch FROM clock_timestamp() - min(queued_at))::float8 AS seconds FROM tasks
 WHERE runnable AND state IN {claimable} AND run_at <= clock_timestamp()

-- name: unresolved_letters
-- How many dead letters wait for a decision. Always one row.
SELECT count(*) AS count FROM dead_letters WHERE resolved_at IS NULL

-- name: unsettled_dags
-- How many DAGs are under way or have failed. No row for a status: none.
SELECT status, count(*) AS count FROM dags WHERE status IN ('running', 'failed') GROUP BY 1

-- name: counters
-- What has ended so far, by type, outcome and reason. No row: nothing has.
SELECT task_type, outcome, reason, sum(count)::bigint AS count FROM task_counters GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
