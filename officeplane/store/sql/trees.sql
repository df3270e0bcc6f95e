-- Trees: a task with its batch around it. Whoever writes to a tree first locks its
-- root, all roots of a transaction in one statement and in the order of their ids;
-- below a locked root nobody else writes but claims, and these skip what is locked.

-- name: take_turns
-- Waits until nobody else has these roots, and keeps it so until the transaction ends. Who
-- waits for a row that is changed meanwhile has a number before it has the row, and who waits
-- here has none: so that numbers are in the order of turns. Always a row for each.
SELECT pg_advisory_xact_lock(hashtextextended(id::text, 0)) FROM unnest(:root_ids::uuid[]) AS id

-- name: lock_roots
-- Locks the roots of the trees a transaction will touch. No row: pruned.
SELECT id FROM tasks WHERE id = ANY(:root_ids::uuid[]) ORDER BY id FOR NO KEY UPDATE

-- name: ancestors
-- The path from the root to each task's parent; it never changes. No row: no such task.
SELECT id, ancestors FROM tasks WHERE id = ANY(:task_ids::uuid[])

-- name: lock_nodes
-- Locks roots with everything below them and tells how it stands. It does not wait for
-- a child that is being claimed or promoted: this transaction has its number by now,
-- and its events would be told before those it waited for. OFFSET 0 keeps the planner from
-- joining many roots with the whole table. No row: pruned.
WITH RECURSIVE tree AS (
    SELECT id FROM tasks WHERE id = ANY(:root_ids::uuid[])
    UNION ALL
    SELECT t.id FROM tree, LATERAL (SELECT id FROM tasks WHERE parent_id = tree.id OFFSET 0) t
)
SELECT id, parent_id, coalesce(position, 0) AS position, state, NOT runnable AS is_batch, blockers, unmet,
       cancel_requested_at IS NOT NULL AS cancel_requested, document_id, demand_id IS NOT NULL AS is_of_agent
  FROM tasks WHERE id = ANY(ARRAY(SELECT id FROM tree)) ORDER BY id FOR NO KEY UPDATE NOWAIT

-- name: siblings
-- What the children of unfinished parents add up to. No row: the parent is final.
SELECT p.id, p.on_child_failure, p.cancel_requested_at IS NOT NULL AS cancel_requested, p.blockers = 0 AS has_turn,
       p.parent_id, p.state IN {not_begun} AS not_begun, c.busy, c.gave_up, c.next_pending, c.culprit
  FROM tasks p,
       LATERAL (SELECT count(*) FILTER (WHERE state IN {unfinished} AND blockers = unmet) AS busy,
                       count(*) FILTER (WHERE state IN {reopenable}) AS gave_up,
                       (array_agg(id ORDER BY position) FILTER (WHERE state = 'PENDING' AND blockers > unmet))[1]
                           AS next_pending,
                       (array_agg(id ORDER BY position) FILTER (WHERE state IN {reopenable}))[1] AS culprit
                  FROM tasks WHERE parent_id = p.id) c
 WHERE p.id = ANY(:parent_ids::uuid[]) AND p.state IN {unfinished}

-- name: begin
-- Lets batches begin whose first child was claimed while their row was locked. No row: they have begun.
WITH begun AS (
    UPDATE tasks SET state = 'RUNNING', started_at = clock_timestamp()
     WHERE id = ANY(:parent_ids::uuid[]) AND state IN {not_begun}
    RETURNING id, document_id, space
), happened AS (
    SELECT 1 AS turn, 'task.running' AS kind, id, document_id, space FROM begun
), told AS (
    {told}
)
SELECT id FROM begun

-- name: start
-- Gives PENDING tasks their turn, one blocker less; those with none left and due become QUEUED. A
-- child is due no earlier than its batch, whose first child may have been cancelled
-- before that. No row: not PENDING.
WITH turn AS (
    SELECT t.id, greatest(t.run_at, p.run_at) AS run_at FROM tasks t LEFT JOIN tasks p ON p.id = t.parent_id
     WHERE t.id = ANY(:task_ids::uuid[])
), started AS (
    UPDATE tasks SET
           blockers = blockers - 1,
           run_at = turn.run_at,
           state = CASE WHEN blockers = 1 AND turn.run_at <= clock_timestamp() THEN 'QUEUED' ELSE state END,
           queued_at = CASE WHEN blockers = 1 AND turn.run_at <= clock_timestamp() THEN clock_timestamp() END,
           rung_at = clock_timestamp(),
           rung_tier = tier_of(rank - {boost_now})
      FROM turn WHERE tasks.id = turn.id AND state = 'PENDING' AND blockers > unmet
    RETURNING tasks.id, document_id, space, state, runnable, blockers, rung_tier, demand_id
), happened AS (
    SELECT 1 AS turn, 'task.queued' AS kind, id, document_id, space FROM started WHERE state = 'QUEUED'
), told AS (
    {told}
)
SELECT id, document_id, space, state, runnable, blockers, rung_tier, demand_id FROM started

-- name: first_children
-- The first waiting child of each batch. No row: it has none.
SELECT DISTINCT ON (parent_id) id, parent_id FROM tasks
 WHERE parent_id = ANY(:parent_ids::uuid[]) AND state = 'PENDING' AND blockers > unmet
 ORDER BY parent_id, position

-- name: finish
-- Ends batches, and cancels what still waits below them. Nobody can tell how many
-- that will be: OFFSET 0 and the array keep it to lookups by parent and by id, where
-- a join would read the whole table. No row: already final.
WITH RECURSIVE ending AS (
    SELECT * FROM unnest(:parent_ids::uuid[], :states::text[], :errors::jsonb[]) AS e(id, target, error)
), below AS (
    SELECT t.id FROM ending, LATERAL (SELECT id FROM tasks WHERE parent_id = ending.id OFFSET 0) t
    UNION ALL
    SELECT t.id FROM below, LATERAL (SELECT id FROM tasks WHERE parent_id = below.id OFFSET 0) t
), ended AS (
    UPDATE tasks SET state = ending.target, blockers = 0, unmet = 0, error = coalesce(ending.error, tasks.error),
           finished_at = clock_timestamp()
      FROM ending WHERE tasks.id = ending.id AND tasks.state IN {unfinished}
    RETURNING tasks.id, tasks.state, tasks.document_id, tasks.space, tasks.task_type, tasks.has_dependents
), dropped AS (
    UPDATE tasks SET state = 'CANCELLED', cancel_reason = coalesce(cancel_reason, 'its batch ended before its turn'),
           finished_at = clock_timestamp()
     WHERE id = ANY(ARRAY(SELECT id FROM below)) AND state IN {waiting}
    RETURNING tasks.id, tasks.state, tasks.document_id, tasks.space, tasks.task_type, tasks.has_dependents
), all_of_them AS (
    SELECT * FROM ended UNION ALL SELECT * FROM dropped
), happened AS (
    SELECT 1 AS turn, 'task.' || lower(state) AS kind, id, document_id, space FROM all_of_them
), told AS (
    {told}
), counts AS (
    SELECT qualified(space, task_type) AS task_type, lower(state) AS outcome, '' AS reason FROM all_of_them
), counted AS (
    {counted}
)
SELECT id, state, has_dependents FROM all_of_them

-- name: finish_atomic
-- Ends the children of atomic batches that have ended: with their share of the batch's
-- result, or cancelled, but for the one that it failed for. No row: they have ended.
WITH ended AS (
    UPDATE tasks c SET
           state = CASE WHEN p.state = 'COMPLETED' THEN 'COMPLETED'
                        WHEN p.state = 'FAILED' AND c.position = (p.error ->> 'child')::integer THEN 'FAILED'
                        ELSE 'CANCELLED' END,
           blockers = 0,
           result = CASE WHEN p.state = 'COMPLETED'
                         THEN (p.result -> 'results' -> c.position) || jsonb_build_object('revision', p.result -> 'revision') END,
           error = CASE WHEN p.state = 'FAILED' AND c.position = (p.error ->> 'child')::integer THEN p.error - 'child' END,
           cancel_reason = CASE WHEN p.state <> 'COMPLETED' THEN coalesce(c.cancel_reason, 'its atomic batch did not complete') END,
           finished_at = clock_timestamp()
      FROM (SELECT id, state, result, error FROM tasks WHERE id = ANY(:parent_ids::uuid[]) AND state IN {final}) p,
           LATERAL (SELECT id FROM tasks WHERE parent_id = p.id AND state IN {waiting} OFFSET 0) waiting
     WHERE c.id = waiting.id
    RETURNING c.id, c.state, c.document_id, c.space, c.task_type, c.has_dependents
), happened AS (
    SELECT 1 AS turn, 'task.' || lower(state) AS kind, id, document_id, space FROM ended
), told AS (
    {told}
), counts AS (
    SELECT qualified(space, task_type) AS task_type, lower(state) AS outcome, '' AS reason FROM ended
), counted AS (
    {counted}
)
SELECT id, state, has_dependents FROM ended

-- name: edits
-- What the children of an atomic batch ask for, in order. No row: it has none.
SELECT task_type, payload::text AS payload, key FROM tasks WHERE parent_id = :parent_id::uuid ORDER BY position

-- name: cancel
-- Ends some tasks of a locked tree, what an agent has among them, and asks others to stop. No row: nothing was
-- unfinished.
WITH asked AS (
    UPDATE tasks SET cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp()),
           cancel_reason = coalesce(cancel_reason, :reason::text)
     WHERE id = ANY(:asked::uuid[]) AND state IN {unfinished}
    RETURNING id
), found AS MATERIALIZED (
    SELECT id, {is_younger} FROM tasks WHERE id = ANY(:ending::uuid[]) ORDER BY id FOR NO KEY UPDATE
), ended AS (
    UPDATE tasks SET state = 'CANCELLED', cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp()),
           cancel_reason = coalesce(cancel_reason, :reason::text), finished_at = clock_timestamp(),
           claim_id = CASE WHEN state IN {active} THEN NULL ELSE claim_id END, hold_id = NULL, lease_until = NULL
      FROM found
     WHERE tasks.id = ANY(:ending::uuid[]) AND tasks.id = found.id
       AND (state IN {waiting} OR state IN {active} AND (NOT runnable OR demand_id IS NOT NULL))
    RETURNING tasks.id, document_id, space, task_type, state, has_dependents, is_younger
), happened AS (
    SELECT 1 AS turn, 'task.cancelled' AS kind, id, document_id, space FROM ended
), told AS (
    {told}
), counts AS (
    SELECT qualified(space, task_type) AS task_type, 'cancelled' AS outcome, '' AS reason FROM ended
), counted AS (
    {counted}
)
SELECT id, document_id, state, has_dependents, is_younger FROM ended

-- name: reopen
-- Gives final tasks a new generation in the states decided for them. No row: not final, or COMPLETED.
WITH wanted AS (
    SELECT * FROM unnest(:task_ids::uuid[], :states::text[], :blockers::integer[], :unmet::integer[])
                      AS w(id, target, blockers, unmet)
), reopened AS (
    UPDATE tasks SET state = w.target, blockers = w.blockers, unmet = w.unmet, generation = generation + 1, attempts_charged = 0,
           crashes = 0, suspect = false, poison_pill = false, claim_id = NULL, hold_id = NULL,
           cancel_requested_at = NULL, cancel_reason = NULL, result = NULL, progress = NULL, finished_at = NULL,
           error = CASE WHEN runnable THEN error END,
           content_hash = CASE WHEN NOT :as_other_content::boolean THEN content_hash END,
           -- An edge to a final task does not mark it.
           has_dependents = has_dependents OR EXISTS (SELECT FROM task_edges e WHERE e.depends_on = tasks.id),
           run_at = CASE WHEN w.target = 'PENDING' AND attempt = 0 THEN run_at ELSE least(run_at, clock_timestamp()) END,
           queued_at = CASE WHEN w.target = 'QUEUED' THEN clock_timestamp() END,
           rung_at = clock_timestamp(),
           rung_tier = tier_of(rank - {boost_now})
      FROM wanted w WHERE tasks.id = w.id AND tasks.state IN {reopenable}
    RETURNING tasks.id, tasks.document_id, tasks.space, tasks.state, tasks.runnable, tasks.rung_tier, tasks.demand_id
), happened AS (
    SELECT 1 AS turn, 'task.' || lower(state) AS kind, id, document_id, space FROM reopened
), told AS (
    {told}
)
SELECT id, document_id, space, state, runnable, rung_tier, demand_id FROM reopened
