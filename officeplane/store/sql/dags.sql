-- Dags: tasks that belong together. Whoever ends, cancels, retries or adds one of their
-- tasks locks the row first, before any task: so nobody judges what another is changing.

-- name: insert
-- Stores a DAG whose tasks come in the same transaction. Always one row.
INSERT INTO dags (id, space, title, created_by, on_behalf_of)
VALUES (:dag_id::uuid, :space::text, :title::text, :created_by::text, :on_behalf_of::text) RETURNING created_at

-- name: lock
-- Locks DAGs in the order of their ids. No row: no such DAG.
SELECT id FROM dags WHERE id = ANY(:dag_ids::uuid[]) ORDER BY id FOR NO KEY UPDATE

-- name: fetch
-- A DAG by id. No row: no such DAG, for this caller.
SELECT id, seq, title, status, is_stuck, created_by, on_behalf_of, created_at, finished_at, cancel_requested_at
  FROM dags g WHERE id = :dag_id::uuid AND {visible_dags}

-- name: page
-- One page of DAGs, newest first. No row: none fits, or the page is past the end.
SELECT id, seq, title, status, is_stuck, created_by, on_behalf_of, created_at, finished_at, cancel_requested_at
  FROM dags g WHERE seq < :before::bigint AND (:status::text IS NULL OR status = :status::text) AND {visible_dags}
 ORDER BY seq DESC LIMIT :limit::integer

-- name: tasks
-- The tasks of a DAG in order, without what is below them; a hundred thousand ids are read much sooner as text.
-- No row: it has none left.
SELECT t.id, t.key, t.task_type, t.state,
       ARRAY(SELECT e.depends_on::text FROM task_edges e WHERE e.task_id = t.id ORDER BY e.depends_on) AS depends_on
  FROM tasks t WHERE t.dag_id = :dag_id::uuid AND t.parent_id IS NULL ORDER BY t.seq

-- name: nodes
-- Locks what is unfinished of a DAG, with all that is below it. No row: all has ended.
SELECT id, parent_id, coalesce(position, 0) AS position, state, NOT runnable AS is_batch, blockers, unmet,
       cancel_requested_at IS NOT NULL AS cancel_requested, document_id, demand_id IS NOT NULL AS is_of_agent
  FROM tasks WHERE dag_id = :dag_id::uuid AND state IN {unfinished} ORDER BY id FOR NO KEY UPDATE

-- name: unsettled
-- Which DAGs may not have the status that they should have, and whether a task of theirs can
-- run. No row for a DAG: it is running, and so it should.
SELECT g.id, can.run AS can_run
  FROM dags g,
       LATERAL (SELECT EXISTS (SELECT FROM tasks
                                WHERE dag_id = g.id AND dag_id IS NOT NULL AND runnable AND blockers = 0
                                  AND state IN {unfinished}) AS run) can
 WHERE g.id = ANY(:dag_ids::uuid[]) AND NOT (g.status = 'running' AND can.run)

-- name: stalled
-- DAGs of a window of those that are running of which no task can run by itself, and where
-- the window ends. Null: there is nothing after the position.
WITH window_ AS MATERIALIZED (
    SELECT id, seq FROM dags WHERE status = 'running' AND seq > :after_seq::bigint ORDER BY seq LIMIT :limit::integer
)
SELECT (SELECT max(seq) FROM window_) AS until,
       ARRAY(SELECT id FROM window_ g
              WHERE NOT EXISTS (SELECT FROM tasks
                                 WHERE dag_id = g.id AND dag_id IS NOT NULL AND runnable AND blockers = 0
                                   AND state IN {unfinished})) AS ids

-- name: tally
-- What the tasks of DAGs add up to of which none can run by itself. No row: no such DAG.
SELECT g.id, t.waiting, t.gave_up, t.completed, g.cancel_requested_at IS NOT NULL AS cancel_requested,
       t.waiting > 0 AND EXISTS (
           SELECT FROM tasks w, task_edges e, tasks d
            WHERE w.dag_id = g.id AND w.unmet > 0 AND w.state = 'PENDING' AND e.task_id = w.id AND d.id = e.depends_on
              AND d.dag_id IS DISTINCT FROM g.id AND d.state IN {unfinished}) AS waits_outside
  FROM dags g,
       LATERAL (SELECT count(*) FILTER (WHERE state IN {unfinished}) AS waiting,
                       count(*) FILTER (WHERE state IN {gave_up}) AS gave_up,
                       count(*) FILTER (WHERE state = 'COMPLETED') AS completed
                  FROM tasks WHERE dag_id = g.id) t
 WHERE g.id = ANY(:dag_ids::uuid[])

-- name: needs
-- What the unfinished tasks of a DAG need that has not completed, and what that needs in
-- its turn, as far as it leads: dependencies, also those of the batches around a task,
-- children, earlier siblings. No row: they need nothing.
WITH RECURSIVE needs AS (
    SELECT NULL::uuid AS task_id, id, state, parent_id, position, ancestors FROM tasks
     WHERE dag_id = :dag_id::uuid AND state IN {unfinished}
    UNION
    SELECT x.id, n.id, n.state, n.parent_id, n.position, n.ancestors
      FROM needs x,
           LATERAL (SELECT e.depends_on AS id FROM task_edges e
                     WHERE e.task_id = x.id OR e.task_id = ANY(x.ancestors)
                    UNION ALL
                    SELECT c.id FROM tasks c WHERE c.parent_id = x.id AND c.state IN {unfinished}
                    UNION ALL
                    SELECT s.id FROM tasks s
                     WHERE s.parent_id = x.parent_id AND s.position < x.position AND s.state IN {unfinished}) next,
           LATERAL (SELECT id, state, parent_id, position, ancestors FROM tasks WHERE tasks.id = next.id) n
     WHERE x.state IN {unfinished} AND n.state <> 'COMPLETED'
)
SELECT task_id, id, state FROM needs

-- name: set_statuses
-- Gives DAGs the status that was found for them, and tells of those that have ended.
-- No row: they had it already.
WITH judged AS (
    UPDATE dags SET status = j.status, is_stuck = j.is_stuck,
           finished_at = CASE WHEN j.status <> 'running' THEN clock_timestamp() END
      FROM (SELECT n.*, d.status AS before
              FROM unnest(:dag_ids::uuid[], :statuses::text[], :are_stuck::boolean[]) AS n(id, status, is_stuck)
              JOIN dags d ON d.id = n.id) j
     WHERE dags.id = j.id AND (dags.status, dags.is_stuck) <> (j.status, j.is_stuck)
    RETURNING dags.id, dags.status, j.before, nullif(dags.space, 'default') || '/' AS place
), told AS (
    INSERT INTO events (kind, task_ids, document_ids, dag_id)
    SELECT 'dag.' || status, ARRAY[NULL]::uuid[], ARRAY[place], id FROM judged
     -- One that is no longer stuck has not failed once more.
     WHERE status NOT IN ('running', before)
)
SELECT id, status FROM judged

-- name: request_cancel
-- Notes that a DAG is to be cancelled. No row: no such DAG.
UPDATE dags SET cancel_requested_at = clock_timestamp() WHERE id = :dag_id::uuid RETURNING id

-- name: forget_cancel
-- Forgets that DAGs were to be cancelled, of which a task is tried again. No row: they were not.
UPDATE dags SET cancel_requested_at = NULL
  FROM tasks t WHERE t.id = :task_id::uuid AND dags.id = t.dag_id AND dags.cancel_requested_at IS NOT NULL
RETURNING dags.id

-- name: prune
-- Removes DAGs of which no task is left. No row: none is like that.
DELETE FROM dags WHERE id IN (
    SELECT id FROM dags g
     WHERE status <> 'running' AND NOT EXISTS (SELECT FROM tasks WHERE dag_id = g.id) LIMIT :limit::integer)
RETURNING id
