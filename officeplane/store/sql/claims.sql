-- Claims: from hints to attempts. Every statement first locks rows through the
-- primary key and only then judges what it locked: with the state in the
-- condition of the updated table, a planner that has learnt that almost nothing
-- is RUNNING walks a partial index of dead entries for every id.

-- part: attempt_facts
-- What is told of a task that was claimed, but for what it takes to do it.
id, claim_id, hold_id, task_type, space, document_id, attempt, attempts_charged, crashes, suspect, max_retries, timeout_seconds,
retry_policy, parent_id, ancestors, created_at, has_dependents

-- part: attempt
-- What a worker is given of a task that it has claimed.
{attempt_facts}, payload, checkpoint, date_part('epoch', started_at - greatest(queued_at, run_at)) AS waited_seconds

-- part: weighed
-- What `fits` looks at, of a task that was looked up.
state, runnable, run_at, task_type, space, suspect, demand_id

-- part: fits
-- Of a task: this claimant may have it now. Whatever a claim asks of a task stands here, and
-- only here; what it looks at is `weighed`, what it compares with is told by `Claimant.values`.
-- Of suspects only one may be taken, which is for those who take several to see to. Workers name no
-- demands and have what has none; agents have what has one of theirs, which may be none at all.
state IN {claimable} AND runnable AND run_at <= clock_timestamp() AND task_type = ANY(:task_types::text[])
AND CASE WHEN :demand_ids::integer[] IS NULL THEN demand_id IS NULL ELSE demand_id = ANY(:demand_ids::integer[]) END
AND (NOT suspect OR :may_take_suspect::boolean) AND (NOT {held} OR id = ANY(:admitted::uuid[]))

-- part: taken
-- The end of all that claims: takes of the `wanted`, which were locked, what fits, and lets its
-- batches begin. Suspects that do not fit are not in question: one of them would keep the others.
-- What an agent runs at once has a lease that ends with its time: its lapse is how that is noticed.
able AS (
    SELECT tid, claim_id, hold_id, suspect FROM wanted WHERE {fits}
), claimed AS (
    UPDATE tasks SET state = CASE WHEN :reserves::boolean THEN 'CLAIMED' ELSE 'RUNNING' END,
           attempt = attempt + 1, claim_id = able.claim_id, hold_id = able.hold_id,
           worker_id = :worker_id::text,
           lease_until = clock_timestamp() + make_interval(secs => least(:lease_seconds::float8,
               CASE WHEN demand_id IS NOT NULL AND NOT :reserves::boolean THEN timeout_seconds END)),
           handler_seen = false, started_at = clock_timestamp(), progress = NULL
      FROM able
     WHERE tasks.ctid = able.tid AND (NOT able.suspect OR able.tid = (SELECT min(tid) FROM able WHERE suspect))
    RETURNING tasks.*
), begun AS (
    UPDATE tasks SET state = 'RUNNING', started_at = clock_timestamp()
      FROM (SELECT DISTINCT unnest(ancestors) AS id FROM claimed) a,
           LATERAL (SELECT ctid AS tid, state FROM tasks WHERE tasks.id = a.id FOR NO KEY UPDATE SKIP LOCKED) p
     WHERE tasks.ctid = p.tid AND p.state IN {not_begun}
    RETURNING tasks.id, tasks.document_id, tasks.space
)

-- name: claim_hinted
-- Tells where hints lead, and whether any type has limits; claims the tasks among them that have no document.
-- No row: the task was pruned, or the hint was never an id of ours. No claim in a row:
-- the task has a document, is taken, final, not due, held, of a type this worker does
-- not know, or a suspect that would not be alone. Of those whose type has limits, only
-- the admitted can be had.
WITH hinted AS MATERIALIZED (
    SELECT c.id AS hint, c.claim_id AS claim, t.document_id AS lane, t.rung_tier AS tier
      FROM unnest(:task_ids::uuid[], :claim_ids::uuid[]) AS c(id, claim_id),
           LATERAL (SELECT document_id, rung_tier FROM tasks WHERE tasks.id = c.id) t
), wanted AS MATERIALIZED (
    SELECT hinted.claim AS claim_id, NULL::uuid AS hold_id, t.*
      FROM hinted,
           LATERAL (SELECT ctid AS tid, id, {weighed}
                      FROM tasks WHERE tasks.id = hinted.hint FOR NO KEY UPDATE SKIP LOCKED) t
     WHERE hinted.lane IS NULL
), {taken}, happened AS (
    SELECT 1 AS turn, 'task.running' AS kind, id, document_id, space FROM begun
    UNION ALL SELECT 1, 'task.' || lower(state), id, document_id, space FROM claimed
), told AS (
    {told}
)
SELECT hint, lane, tier, EXISTS (SELECT FROM valves WHERE limited) AS limits, {attempt}
  FROM hinted LEFT JOIN claimed ON claimed.id = hinted.hint

-- name: claim_lanes
-- Claims the head of each document's lane. No row: the lane is empty, occupied or
-- paused, its head is not due, held, locked by another, of an unknown type, or a
-- suspect that would not be alone. The head is looked up first and locked then:
-- skipping a locked head would let the next one overtake it. OFFSET 0 makes it one
-- look into the index for each lane; as a join it would be a walk through all
-- occupants. Of heads whose type has limits, only the admitted can be had.
WITH wanted AS MATERIALIZED (
    SELECT w.claim_id, w.hold_id, t.*
      FROM unnest(:lane_document_ids::text[], :lane_claim_ids::uuid[], :lane_hold_ids::uuid[])
               AS w(document_id, claim_id, hold_id),
           LATERAL (SELECT id FROM tasks
                     WHERE tasks.document_id = w.document_id AND runnable AND state IN {claimable}
                       AND (NOT yields OR run_at <= clock_timestamp() AND (NOT {held} OR id = ANY(:admitted::uuid[])))
                     ORDER BY rank, seq LIMIT 1) head,
           LATERAL (SELECT ctid AS tid, id, {weighed}
                      FROM tasks WHERE tasks.id = head.id FOR NO KEY UPDATE SKIP LOCKED) t
     WHERE NOT EXISTS ({pause_of} w.document_id OFFSET 0) AND NOT EXISTS ({occupant_of} w.document_id OFFSET 0)
), {taken}, happened AS (
    SELECT 1 AS turn, 'task.running' AS kind, id, document_id, space FROM begun
    UNION ALL SELECT 1, 'task.' || lower(state), id, document_id, space FROM claimed
), told AS (
    {told}
)
SELECT {attempt} FROM claimed

-- part: models_wanted
-- Of a task `t` with its demand `d`: the models that count for it now; none: any will do.
CASE WHEN t.attempts_charged >= 2 AND d.fallback_models <> '{}' THEN d.fallback_models ELSE d.models END

-- part: done_with
-- Of the same: one of these models will do.
({models_wanted} = '{}' OR {models_wanted} && :models::text[])

-- name: claim_offered
-- Claims for an agent what it was offered, a row for each claim. The tasks are given in the order of their
-- documents. No row: another was quicker, or the task is its lane's head no more, or is not to be had for
-- another reason that `fits` names; or it was changed after this transaction began, whose events would come first.
-- The claim that outlives the attempt is kept, with the first of the models wanted that the agent has.
WITH wanted AS MATERIALIZED (
    SELECT w.claim_id, NULL::uuid AS hold_id, t.*
      FROM unnest(:task_ids::uuid[], :claim_ids::uuid[]) AS w(id, claim_id),
           LATERAL (SELECT ctid AS tid, id, document_id, attempts_charged, {is_younger}, {weighed}
                      FROM tasks WHERE tasks.id = w.id FOR NO KEY UPDATE SKIP LOCKED) t
      JOIN demands d ON d.id = t.demand_id
     WHERE NOT is_younger AND {done_with}
       AND (t.document_id IS NULL
            OR t.id = (SELECT id FROM tasks
                        WHERE tasks.document_id = t.document_id AND runnable AND state IN {claimable}
                          AND (NOT yields OR run_at <= clock_timestamp() AND (NOT {held} OR id = ANY(:admitted::uuid[])))
                        ORDER BY rank, seq LIMIT 1)
               AND NOT EXISTS ({pause_of} t.document_id OFFSET 0)
               AND NOT EXISTS ({occupant_of} t.document_id OFFSET 0))
), {taken}, kept AS (
    INSERT INTO agent_claims (claim_id, task_id, generation, attempt, agent_id, space, model)
    SELECT t.claim_id, t.id, t.generation, t.attempt, :agent_id::text, t.space,
           (SELECT model FROM unnest({models_wanted}) WITH ORDINALITY AS m(model, turn)
             WHERE model = ANY(:models::text[]) ORDER BY turn LIMIT 1)
      FROM claimed t JOIN demands d ON d.id = t.demand_id
    RETURNING claim_id, model
), happened AS (
    SELECT 1 AS turn, 'task.running' AS kind, id, document_id, space FROM begun
    UNION ALL SELECT 1, 'task.' || lower(state), id, document_id, space FROM claimed
), told AS (
    {told}
)
SELECT {attempt}, lease_until, kept.model
  FROM claimed, LATERAL (SELECT model FROM kept WHERE kept.claim_id = claimed.claim_id) kept
 ORDER BY rank, seq

-- name: upcoming
-- What waits in a lane, in its order, with the version of each row; `may_go_ahead` when it is an
-- edit that nothing has happened to yet and that is under no conditions, and no larger than most: the
-- others wait for their turn, and their payloads are left out. No row: nothing waits.
SELECT id, task_type, CASE WHEN pg_column_size(payload) <= :payload_bytes::integer THEN payload ELSE '{}'::jsonb END AS payload,
       coalesce(on_behalf_of, created_by) AS author, created_at, tasks.xmin::text AS version,
       state = 'QUEUED' AND attempt = 0 AND parent_id IS NULL AND NOT has_dependents AND NOT suspect
           AND run_at <= clock_timestamp() AND c.task_id IS NULL
           AND pg_column_size(payload) <= :payload_bytes::integer AS may_go_ahead
  FROM tasks LEFT JOIN edit_conditions c ON c.task_id = tasks.id
 WHERE document_id = :document_id::text AND runnable AND state IN {claimable} AND {may_head}
 ORDER BY rank, seq LIMIT :limit::integer

-- name: recover
-- What a worker holds under claims whose answer it never heard. No row: they were not made.
SELECT {attempt}
  FROM tasks
 WHERE worker_id = :worker_id::text AND runnable AND state IN {active} AND claim_id = ANY(:claim_ids::uuid[])

-- name: occupied
-- Which of these documents have an occupant. No row: none has.
SELECT document_id FROM tasks
 WHERE document_id = ANY(:document_ids::text[]) AND runnable AND state IN {active}

-- name: lane_heads
-- The head of each lane that workers could claim now. No row: nothing to ring for.
SELECT id, document_id, tier_of(rank - {boost_now}) AS tier
  FROM unnest(:document_ids::text[]) AS w(lane),
       LATERAL (SELECT id, document_id, task_type, space, rank, run_at, demand_id FROM tasks
                 WHERE document_id = w.lane AND runnable AND state IN {claimable} AND {may_head}
                 ORDER BY rank, seq LIMIT 1) head
 WHERE run_at <= clock_timestamp() AND demand_id IS NULL AND NOT EXISTS ({pause_of} lane OFFSET 0) AND NOT {held}

-- part: of_other_spaces
space <> 'default' AND runnable AND state IN {claimable}

-- part: polled
id, document_id, rank, seq, yields, {weighed}

-- name: poll
-- Hints straight from the ledger: the most urgent of every tier, the heads of the
-- lanes after a given document, so that one deep lane cannot hide the others, and
-- what waits longest without a document; and the most urgent of every other space, so that
-- nobody's flood hides them. What this worker may not take leaves room for the rest: lanes
-- whose head is not due, held or of an unknown type, suspects while it has one. Within a tier
-- spaces take turns. Always a row, for `last_lane`; no id: nothing can be claimed.
WITH RECURSIVE lanes AS (
    (SELECT {polled}, 1 AS n FROM tasks
      WHERE document_id > :after_lane::text AND runnable AND state IN {claimable} AND {may_head}
      ORDER BY document_id, rank, seq LIMIT 1)
    UNION ALL
    SELECT next.*, lanes.n + 1 FROM lanes,
           LATERAL (SELECT {polled} FROM tasks
                     WHERE document_id > lanes.document_id AND runnable AND state IN {claimable} AND {may_head}
                     ORDER BY document_id, rank, seq LIMIT 1) next
     WHERE lanes.n < :lanes::integer
), urgent AS (
    SELECT t.* FROM generate_series(0, 3) AS tier(n),
           LATERAL (SELECT {polled} FROM tasks
                     WHERE rung_tier = tier.n AND runnable AND state IN {claimable}
                       AND (document_id IS NOT NULL OR demand_id IS NULL AND NOT {held})
                     ORDER BY rank, seq LIMIT :lanes::integer) t
), free AS (
    SELECT {polled} FROM tasks WHERE document_id IS NULL AND {fits} ORDER BY rung_at LIMIT :lanes::integer
), moment AS MATERIALIZED (
    SELECT {boost_now} AS boost
), spaces AS (
    (SELECT space, 1 AS n FROM tasks WHERE {of_other_spaces} AND space > '' ORDER BY space, rank, seq LIMIT 1)
    UNION ALL
    SELECT next.space, spaces.n + 1 FROM spaces,
           LATERAL (SELECT space FROM tasks
                     WHERE {of_other_spaces} AND space > spaces.space ORDER BY space, rank, seq LIMIT 1) next
     WHERE spaces.n < :lanes::integer
), others AS (
    SELECT t.* FROM spaces,
           LATERAL (SELECT {polled} FROM tasks
                     WHERE {of_other_spaces} AND space = spaces.space AND (document_id IS NOT NULL OR demand_id IS NULL AND NOT {held})
                     ORDER BY rank, seq LIMIT greatest(:lanes::integer / (SELECT count(*) FROM spaces), 1)) t
    UNION ALL
    -- Where others are, they may hide the default space; then it, too, has room of its own.
    SELECT t.* FROM generate_series(0, 3) AS tier(n),
           LATERAL (SELECT {polled} FROM tasks
                     WHERE rung_tier = tier.n AND runnable AND state IN {claimable} AND space = 'default'
                       AND (document_id IS NOT NULL OR demand_id IS NULL AND NOT {held})
                     ORDER BY rank, seq LIMIT :limit::integer) t
     WHERE EXISTS (SELECT FROM spaces)
), heads AS (
    SELECT DISTINCT ON (coalesce(document_id, id::text)) *
      FROM (SELECT {polled} FROM lanes UNION ALL SELECT * FROM urgent UNION ALL SELECT * FROM free
            UNION ALL SELECT * FROM others) c
     WHERE {may_head}
     ORDER BY coalesce(document_id, id::text), rank, seq
), fit AS (
    SELECT id, rank, seq, tier, row_number() OVER (PARTITION BY tier, space ORDER BY rank, seq) AS turn
      FROM heads, moment, LATERAL (SELECT tier_of(rank - moment.boost) AS tier OFFSET 0) t
     WHERE {fits}
       AND (document_id IS NULL OR NOT EXISTS ({pause_of} heads.document_id OFFSET 0)
            AND NOT EXISTS ({occupant_of} heads.document_id))
     ORDER BY tier, turn, rank, seq LIMIT :limit::integer
)
SELECT fit.id, seen.last_lane, EXISTS (SELECT FROM valves WHERE limited) AS limits
  FROM (SELECT CASE WHEN count(*) = :lanes::integer THEN max(document_id) END AS last_lane FROM lanes) seen
  LEFT JOIN fit ON true
 ORDER BY fit.tier, fit.turn, fit.rank, fit.seq

-- name: start
-- Lets a reserved task run. No row: the claim was lost, or it runs already.
WITH started AS (
    UPDATE tasks SET state = 'RUNNING', started_at = clock_timestamp()
     WHERE id = :task_id::uuid AND claim_id = :claim_id::uuid AND state IN {reserved}
    RETURNING id, document_id, space
), happened AS (
    SELECT 1 AS turn, 'task.running' AS kind, id, document_id, space FROM started
), told AS (
    {told}
)
SELECT id FROM started

-- name: validate
-- Has the output of an attempt checked before it counts. No row: the claim was lost, or it does not run.
WITH delivered AS (
    UPDATE tasks SET state = 'VALIDATING'
     WHERE id = :task_id::uuid AND claim_id = :claim_id::uuid AND state = 'RUNNING'
    RETURNING id, document_id, space
), happened AS (
    SELECT 1 AS turn, 'task.validating' AS kind, id, document_id, space FROM delivered
), told AS (
    {told}
)
SELECT id FROM delivered

-- name: renew
-- Extends leases and tells which claims still stand. No row: locked by another for
-- a moment; ask again. `stands` false: the claim was lost.
WITH locked AS MATERIALIZED (
    SELECT c.id, t.tid, t.state IN {settleable} AND t.claim_id = c.claim_id AS stands
      FROM unnest(:task_ids::uuid[], :claim_ids::uuid[]) AS c(id, claim_id),
           LATERAL (SELECT ctid AS tid, state, claim_id
                      FROM tasks WHERE tasks.id = c.id FOR NO KEY UPDATE SKIP LOCKED) t
), renewed AS (
    UPDATE tasks SET lease_until = clock_timestamp() + make_interval(secs => :lease_seconds::float8), handler_seen = true
      FROM locked WHERE tasks.ctid = locked.tid AND locked.stands
)
SELECT id, stands FROM locked

-- name: cancelled
-- Which of these claims were asked to stop. No row: none.
SELECT t.id FROM unnest(:task_ids::uuid[], :claim_ids::uuid[]) AS c(id, claim_id), tasks t
 WHERE t.id = c.id AND t.claim_id = c.claim_id AND t.cancel_requested_at IS NOT NULL

-- name: report_progress
-- Stores the latest progress of running attempts. No row: the claim was lost.
UPDATE tasks SET progress = p.progress
  FROM unnest(:task_ids::uuid[], :claim_ids::uuid[], :progress::jsonb[]) AS p(id, claim_id, progress)
 WHERE tasks.id = p.id AND tasks.claim_id = p.claim_id AND tasks.state IN {settleable}
RETURNING tasks.id

-- name: save_checkpoint
-- Stores a checkpoint of a running attempt. No row: the claim was lost.
UPDATE tasks SET checkpoint = :checkpoint::jsonb
 WHERE id = :task_id::uuid AND claim_id = :claim_id::uuid AND state IN {settleable}
RETURNING id

-- name: results_of_siblings
-- The results of completed children of a batch, by key. No row for a key: it has not completed.
SELECT key, result FROM tasks WHERE parent_id = :parent_id::uuid AND key = ANY(:keys::text[]) AND state = 'COMPLETED'

-- name: results_of_dependencies
-- The results of completed tasks by what a task calls them: keys of its DAG, or ids. No row
-- for a name: it has not completed.
SELECT d.key AS name, d.result
  FROM tasks t JOIN tasks d ON d.dag_id = t.dag_id AND d.parent_id IS NULL AND d.key = ANY(:names::text[])
 WHERE t.id = :task_id::uuid AND t.dag_id IS NOT NULL AND d.dag_id IS NOT NULL AND d.state = 'COMPLETED'
UNION ALL
SELECT id::text, result FROM tasks WHERE id = ANY(:task_ids::uuid[]) AND state = 'COMPLETED'
