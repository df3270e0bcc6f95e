-- Statistics: counts for people and for scrapers.

-- part: counted
-- Adds up what `counts` says of attempts that have ended: of which type as it is called inside, how and why.
INSERT INTO task_counters AS c (counted_by, task_type, outcome, reason, count)
    SELECT :counted_by::text, task_type, outcome, reason, count(*) FROM counts GROUP BY 2, 3, 4 ORDER BY 2, 3, 4
    ON CONFLICT (counted_by, task_type, outcome, reason) DO UPDATE SET count = c.count + excluded.count

-- part: shown_space
-- Of what has a space: that, if it is one of those that figures are shown of, or what stands for all others.
CASE WHEN space = 'default' OR space = ANY(:spaces::text[]) THEN space ELSE 'other' END

-- part: ended
-- What has ended so far, by space and type.
SELECT {space_inside} AS space, {bare_type} AS task_type, outcome, reason, count FROM task_counters

-- name: largest_spaces
-- Those of which most has ended; what waits or is held only tells which there are. No row: there is only the
-- default space.
SELECT space
  FROM (SELECT space, sum(count) AS size FROM ({ended}) e GROUP BY 1
        UNION ALL
        SELECT space, 0 FROM tasks WHERE runnable AND state IN {claimable} GROUP BY 1
        UNION ALL
        SELECT {space_inside}, 0 FROM valves GROUP BY 1) s
 WHERE space <> 'default' GROUP BY space ORDER BY sum(size) DESC, space LIMIT :limit::integer

-- name: counts
-- How many tasks are in each state, by tier. No row: there is no task.
SELECT state, tier_of(priority) AS tier, count(*) AS count FROM tasks WHERE {visible} GROUP BY 1, 2

-- name: unfinished_counts
-- How many runnable tasks wait, by space, state and tier. No row: none waits.
SELECT {shown_space} AS space, state, rung_tier AS tier, count(*) AS count FROM tasks
 WHERE runnable AND state IN {claimable} AND {visible} GROUP BY 1, 2, 3

-- name: oldest_wait
-- How long the task has waited, by space, that waits longest and could run. Left out is what somebody or
-- something holds back on purpose: types that are paused, slowed down, behind their breaker or
-- at their limits (of a rate: those that are using it up), paused documents, and lanes whose
-- head is held or not due. Of a type that no worker knows all waits in earnest. No row: none waits.
WITH kept AS MATERIALIZED (
    SELECT v.task_type FROM valves v
     WHERE v.paused OR v.breaker <> 'closed' OR v.slow_until > clock_timestamp()
        OR {tokens} < greatest(1, v.rate_per_second)
        OR v.concurrency <= (SELECT count(*) FROM tasks a
                              WHERE a.runnable AND a.state IN {active} AND qualified(a.space, a.task_type) = v.task_type)
), suspected AS (
    SELECT document_id FROM tasks
     WHERE runnable AND document_id IS NOT NULL AND state = 'RETRYING' AND run_at > clock_timestamp()
    UNION
    SELECT document_id FROM tasks
     WHERE EXISTS (SELECT FROM kept) AND runnable AND document_id IS NOT NULL AND state IN {claimable}
       AND qualified(space, task_type) IN (SELECT task_type FROM kept)
), stuck AS MATERIALIZED (
    SELECT s.document_id FROM suspected s,
           LATERAL (SELECT qualified(space, task_type) AS task_type, run_at FROM tasks
                     WHERE tasks.document_id = s.document_id AND runnable AND state IN {claimable}
                       AND (NOT yields OR run_at <= clock_timestamp()
                                        AND qualified(space, task_type) NOT IN (SELECT task_type FROM kept))
                     ORDER BY rank, seq LIMIT 1) head
     WHERE head.run_at > clock_timestamp() OR head.task_type IN (SELECT task_type FROM kept)
)
SELECT {shown_space} AS space, extract(epoch FROM clock_timestamp() - min(queued_at))::float8 AS seconds FROM tasks
 WHERE runnable AND state IN {claimable} AND run_at <= clock_timestamp()
   AND qualified(space, task_type) NOT IN (SELECT task_type FROM kept)
   AND NOT EXISTS (SELECT FROM stuck WHERE stuck.document_id = tasks.document_id)
   AND NOT EXISTS ({pause_of} tasks.document_id)
   AND {visible}
 GROUP BY 1

-- name: unresolved_letters
-- How many dead letters wait for a decision, by space. No row: none.
SELECT {shown_space} AS space, count(*) AS count FROM dead_letters WHERE resolved_at IS NULL AND {visible} GROUP BY 1

-- name: unsettled_dags
-- How many DAGs are under way or have failed, by space. No row for a status: none.
SELECT {shown_space} AS space, status, count(*) AS count
  FROM dags g WHERE status IN ('running', 'failed') AND {visible_dags} GROUP BY 1, 2

-- name: held_types
-- Which types are paused, and which states their breakers are in: together, where several spaces are
-- shown as one. No row: nothing of a type was ever held.
SELECT {shown_space} AS space, task_type, bool_or(paused) AS paused, array_agg(DISTINCT breaker) AS breakers
  FROM (SELECT {space_inside} AS space, {bare_type} AS task_type, paused, breaker FROM valves) v
 WHERE {visible_types} GROUP BY 1, 2 ORDER BY 1, 2

-- name: counters
-- What has ended so far, by space, type, outcome and reason. No row: nothing has.
SELECT {shown_space} AS space, task_type, outcome, reason, sum(count)::bigint AS count
  FROM ({ended}) e WHERE {visible_types} GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
