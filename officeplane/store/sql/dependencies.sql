-- Dependencies: which task waits for the end of which other, each an edge. An edge and the
-- end of the task it leads to meet at that task's row: whoever inserts one locks the row and
-- marks it, whoever ends a marked task looks for edges in a statement of its own, after that.

-- name: lock
-- Locks dependencies in the order of their ids, marks the unfinished as waited for, and
-- tells how all of them stand. No row for an id: no such task.
WITH locked AS MATERIALIZED (
    SELECT id, state, has_dependents, space, document_id, task_type
      FROM tasks WHERE id = ANY(:task_ids::uuid[]) ORDER BY id FOR NO KEY UPDATE
), marked AS (
    UPDATE tasks SET has_dependents = true
      FROM locked
     WHERE tasks.id = locked.id AND NOT locked.has_dependents AND locked.state IN {unfinished}
)
SELECT id, state, space, document_id, task_type FROM locked

-- name: given_up
-- Which of these tasks were given up for good: so was decided of all their letters or, of a
-- batch, of all letters below it. No row: each may still be retried.
WITH RECURSIVE below AS (
    SELECT id AS top, id, generation, state FROM tasks WHERE id = ANY(:task_ids::uuid[]) AND state IN {gave_up}
    UNION ALL
    SELECT b.top, c.id, c.generation, c.state
      FROM below b, LATERAL (SELECT id, generation, state FROM tasks WHERE parent_id = b.id) c
)
SELECT b.top AS id
  FROM below b JOIN dead_letters l ON l.task_id = b.id AND l.generation = b.generation
 WHERE b.state IN {gave_up}
 GROUP BY b.top HAVING bool_and(coalesce(l.resolution IN ('cancel', 'delete'), false))

-- name: insert
-- Stores edges. No row: always.
INSERT INTO task_edges (task_id, depends_on) SELECT * FROM unnest(:task_ids::uuid[], :depends_on::uuid[])

-- name: of_tasks
-- The edges that begin at these tasks, and how the tasks at their ends stand. No row: they
-- depend on nothing. No state: the dependency was pruned.
SELECT e.task_id, e.depends_on, d.state
  FROM task_edges e LEFT JOIN tasks d ON d.id = e.depends_on
 WHERE e.task_id = ANY(:task_ids::uuid[]) ORDER BY e.task_id, e.depends_on

-- name: near
-- The DAGs and, outside of these, the roots of the trees that completed tasks and what is
-- around them lead to. No row: nothing waits for them.
WITH own AS MATERIALIZED (
    SELECT id, dag_id, ancestors FROM tasks WHERE id = ANY(:task_ids::uuid[])
), dependents AS MATERIALIZED (
    SELECT DISTINCT e.task_id
      FROM (SELECT id FROM own UNION SELECT unnest(ancestors) FROM own) o,
           LATERAL (SELECT task_id FROM task_edges WHERE depends_on = o.id OFFSET 0) e
)
SELECT DISTINCT t.dag_id, CASE WHEN t.dag_id IS NULL THEN coalesce(t.ancestors[1], t.id) END AS root_id
  FROM (SELECT id, dag_id, ancestors FROM own WHERE dag_id IS NOT NULL
        UNION ALL
        SELECT d.id, d.dag_id, d.ancestors
          FROM dependents, LATERAL (SELECT id, dag_id, ancestors FROM tasks WHERE id = dependents.task_id) d) t

-- name: far
-- The same for tasks that others will be cancelled or stuck with: as far as edges and trees
-- lead. No row: nothing waits for them.
WITH RECURSIVE reached AS (
    SELECT id, dag_id, ancestors FROM tasks WHERE id = ANY(:task_ids::uuid[])
    UNION
    SELECT n.id, n.dag_id, n.ancestors
      FROM reached r,
           LATERAL (SELECT task_id AS id FROM task_edges WHERE depends_on = r.id
                    UNION SELECT id FROM tasks WHERE parent_id = r.id
                    UNION SELECT unnest(r.ancestors)
                    UNION SELECT s.task_id
                            FROM task_edges e JOIN spawns s ON s.spawned_by = e.task_id AND s.task_id = e.depends_on
                           WHERE e.task_id = r.id) next,
           LATERAL (SELECT id, dag_id, ancestors FROM tasks WHERE id = next.id) n
)
SELECT DISTINCT dag_id, CASE WHEN dag_id IS NULL THEN coalesce(ancestors[1], id) END AS root_id FROM reached

-- name: release
-- Takes from what depends on completed tasks a blocker for each of them; what has none left
-- and is due becomes QUEUED. No row: nothing depends on them, or it does not wait any more.
WITH freed AS (
    SELECT e.task_id AS id, count(*)::integer AS met, bool_or(t.is_younger) AS is_younger
      FROM unnest(:task_ids::uuid[]) AS d(id), LATERAL (SELECT task_id FROM task_edges WHERE depends_on = d.id OFFSET 0) e,
           LATERAL (SELECT {is_younger} FROM tasks WHERE id = e.task_id) t
     GROUP BY 1
), released AS (
    UPDATE tasks SET
           blockers = blockers - freed.met,
           unmet = unmet - freed.met,
           state = CASE WHEN blockers = freed.met AND run_at <= clock_timestamp() THEN 'QUEUED' ELSE state END,
           queued_at = CASE WHEN blockers = freed.met AND run_at <= clock_timestamp() THEN clock_timestamp() END,
           rung_at = clock_timestamp(),
           rung_tier = tier_of(rank - {boost_now})
      FROM freed WHERE tasks.id = freed.id AND tasks.state = 'PENDING' AND tasks.unmet >= freed.met
    RETURNING tasks.id, tasks.document_id, tasks.space, tasks.state, tasks.runnable, tasks.blockers, tasks.rung_tier,
              tasks.demand_id, freed.is_younger
), happened AS (
    SELECT 1 AS turn, 'task.queued' AS kind, id, document_id, space FROM released WHERE state = 'QUEUED'
), told AS (
    {told}
)
SELECT id, document_id, space, state, runnable, blockers, rung_tier, demand_id, is_younger FROM released

-- name: dependents
-- What waits, however indirectly, for tasks that are cancelled, with all that is below it. No row: nothing does.
WITH RECURSIVE dependents AS (
    SELECT t.id, t.parent_id, t.ancestors, t.dag_id
      FROM unnest(:task_ids::uuid[]) AS c(id), LATERAL (SELECT task_id FROM task_edges WHERE depends_on = c.id OFFSET 0) e,
           LATERAL (SELECT id, parent_id, ancestors, dag_id, state FROM tasks WHERE id = e.task_id) t
     WHERE t.state IN {unfinished}
    UNION
    SELECT t.id, t.parent_id, t.ancestors, t.dag_id
      FROM dependents d,
           LATERAL (SELECT task_id AS id FROM task_edges WHERE depends_on = d.id
                    UNION SELECT id FROM tasks WHERE parent_id = d.id) next,
           LATERAL (SELECT id, parent_id, ancestors, dag_id, state FROM tasks WHERE id = next.id) t
     WHERE t.state IN {unfinished}
)
SELECT id, parent_id, coalesce(ancestors[1], id) AS root_id, dag_id FROM dependents

-- name: orphaned_spawns
-- What cancelled tasks have spawned and waited for. No row: they waited for nothing of theirs.
SELECT c.id
  FROM task_edges e, LATERAL (SELECT id, spawned_by, state FROM tasks WHERE id = e.depends_on) c
 WHERE e.task_id = ANY(:task_ids::uuid[]) AND c.spawned_by = e.task_id AND c.state IN {unfinished}
 ORDER BY c.id

-- name: forget_spawned
-- Takes away the edges from tasks that can be retried to what these have spawned. No row: always.
DELETE FROM task_edges e USING tasks t, spawns s
 WHERE e.task_id = ANY(:task_ids::uuid[]) AND t.id = e.task_id AND t.state IN {reopenable}
   AND s.spawned_by = e.task_id AND s.task_id = e.depends_on

-- part: met
unmet > 0 AND state = 'PENDING'
       AND NOT EXISTS (SELECT FROM task_edges e, tasks d
                        WHERE e.task_id = tasks.id AND d.id = e.depends_on AND d.state <> 'COMPLETED')

-- name: overdue
-- Tasks of a window that wait for dependencies of which none is left, and where the window
-- ends. Null: there is nothing after the position.
WITH window_ AS MATERIALIZED (
    SELECT id, seq FROM tasks WHERE unmet > 0 AND state = 'PENDING' AND seq > :after_seq::bigint
     ORDER BY seq LIMIT :limit::integer
)
SELECT (SELECT max(seq) FROM window_) AS until,
       ARRAY(SELECT id FROM tasks WHERE id IN (SELECT id FROM window_) AND {met}) AS ids

-- name: recount
-- Takes from tasks the blockers of dependencies of which none is left. No row: some are.
WITH released AS (
    UPDATE tasks SET
           blockers = blockers - unmet,
           unmet = 0,
           state = CASE WHEN blockers = unmet AND run_at <= clock_timestamp() THEN 'QUEUED' ELSE state END,
           queued_at = CASE WHEN blockers = unmet AND run_at <= clock_timestamp() THEN clock_timestamp() END,
           rung_at = clock_timestamp(),
           rung_tier = tier_of(rank - {boost_now})
     WHERE id = ANY(:task_ids::uuid[]) AND {met}
    RETURNING id, document_id, space, state, runnable, blockers, rung_tier, demand_id
), happened AS (
    SELECT 1 AS turn, 'task.queued' AS kind, id, document_id, space FROM released WHERE state = 'QUEUED'
), told AS (
    {told}
)
SELECT id, document_id, space, state, runnable, blockers, rung_tier, demand_id FROM released
