-- Valves: what keeps tasks of a type, or of a document, from being claimed.

-- part: held
-- Of a task: nothing of its type is to be claimed now, and it is no probe. The few rows
-- there may be are read once a statement, and not at all for what each task looks like.
(task_type IN (SELECT v.task_type FROM valves v
                WHERE v.paused OR v.breaker <> 'closed' OR v.limited OR v.slow_until > clock_timestamp())
 AND id NOT IN (SELECT v.probe_task_id FROM valves v
                 WHERE v.breaker = 'half_open' AND v.probe_until > clock_timestamp() AND NOT v.paused AND NOT v.limited
                   AND (v.slow_until IS NULL OR v.slow_until <= clock_timestamp())))

-- part: may_head
-- Of a task: it is its lane's head if nothing comes before it. One that yields stands
-- aside while it has to wait.
(NOT yields OR (run_at <= clock_timestamp() AND NOT {held}))

-- part: paused
-- The documents of which nothing is to be claimed.
(SELECT p.document_id FROM paused_documents p)

-- name: set_paused
-- Says whether a type is paused. Always one row.
INSERT INTO valves (task_type, paused) VALUES ($1::text, $2::boolean)
ON CONFLICT (task_type) DO UPDATE SET paused = excluded.paused
RETURNING paused

-- name: pause_document
-- Pauses a document's lane. No row: it was paused already.
INSERT INTO paused_documents (document_id) VALUES ($1::text) ON CONFLICT DO NOTHING RETURNING document_id

-- name: resume_document
-- Lets a document's lane go on. No row: it was not paused.
DELETE FROM paused_documents WHERE document_id = $1::text RETURNING document_id

-- name: is_paused
-- Whether a document's lane is paused. Always one row.
SELECT EXISTS (SELECT FROM paused_documents WHERE document_id = $1::text) AS paused

-- part: valve
task_type, paused, slow_until, breaker, failures, failure_threshold, half_open_after_seconds, opened_at, retry_at,
rate_per_second, concurrency

-- name: fetch
-- The valve of a type. No row: nothing keeps its tasks.
SELECT {valve} FROM valves WHERE task_type = $1::text

-- name: all
-- Every valve that was ever touched, by type. No row: none was.
SELECT {valve} FROM valves ORDER BY task_type

-- part: ready
-- Of a task of type `v.task_type`: it could be claimed if its type's valve let it through.
t.task_type = v.task_type AND t.runnable AND t.state IN {claimable} AND t.run_at <= clock_timestamp()
AND (t.document_id IS NULL
     OR t.document_id NOT IN {paused}
        AND NOT EXISTS (SELECT FROM tasks o WHERE o.document_id = t.document_id AND o.runnable AND o.state IN {active})
        AND NOT EXISTS (SELECT FROM tasks
                         WHERE tasks.document_id = t.document_id AND runnable AND state IN {claimable}
                           AND (rank, seq) < (t.rank, t.seq) AND {may_head}))

-- name: ring
-- Marks as rung, and returns, the most urgent tasks of types that could be claimed, so
-- many of each. No row: none waits.
WITH chosen AS MATERIALIZED (
    SELECT t.id FROM unnest($1::text[], $2::integer[]) AS v(task_type, wanted),
           LATERAL (SELECT t.id FROM tasks t WHERE {ready} ORDER BY t.rank, t.seq LIMIT v.wanted) t
), locked AS MATERIALIZED (
    SELECT l.tid FROM chosen,
           LATERAL (SELECT ctid AS tid, state FROM tasks WHERE tasks.id = chosen.id FOR NO KEY UPDATE SKIP LOCKED) l
     WHERE l.state IN {claimable}
), rung AS (
    UPDATE tasks SET rung_at = clock_timestamp(),
           rung_tier = tier_of(rank - $3::float8 * extract(epoch FROM clock_timestamp()) / 60)
     WHERE ctid = ANY(ARRAY(SELECT tid FROM locked))
    RETURNING id, rung_tier, rank, seq
)
SELECT id, rung_tier FROM rung ORDER BY rank, seq
