-- Settlements: the one way an attempt ends.

-- part: lane_waits
-- Whether more waits in the lane of a task, as of the statement's snapshot: what a batch
-- makes QUEUED later in the transaction is not in it.
tasks.document_id IS NOT NULL AND (tasks.state IN {claimable} OR EXISTS (
    SELECT FROM tasks n WHERE n.document_id = tasks.document_id AND n.runnable AND n.state IN {claimable})) AS lane_waits

-- part: settled
-- How a settlement left a task, and whether more waits in its lane.
settled.id AS settled_id, settled.state AS settled_state, settled.rung_tier AS settled_tier, settled.lane_waits,
settled.has_dependents AS is_awaited, nullif(settled.space, 'default') AS other_space

-- part: may_end
-- Of an attempt that is `locked`: it is in a state that it can end in. What was reserved and has not started can only
-- be let go.
(locked.current_state IN {settleable} OR locked.current_state IN {reserved} AND locked.target IN {let_go})

-- part: accounted
-- Counts what has `ended`, and lets successes begin the count of a type's failures in a row
-- anew, in their space. Nearly always there is no such row.
counts AS (
    SELECT qualified(space, task_type) AS task_type, lower(state) AS outcome, reason FROM ended
), counted AS (
    {counted}
), forgiven AS (
    UPDATE valves SET failures = 0
     WHERE failures > 0 AND breaker = 'closed' 
       AND task_type IN (SELECT qualified(space, task_type) FROM ended WHERE state = 'COMPLETED')
)

-- name: settle
-- Ends attempts whose claim still stands, records failures, events and counters.
-- No row: the claim was lost (fenced), or the row moved under the statement's
-- snapshot; `standing` tells which. A cancel request wins over any outcome. Whoever
-- calls it looks, in the same transaction, for what waits for these tasks.
WITH locked AS MATERIALIZED (
    SELECT o.*, t.tid, t.current_state, t.current_claim, t.lease_until, t.worker_id, t.started_at, t.attempt,
           t.demand_id, CASE WHEN t.cancel_requested_at IS NULL THEN o.wanted ELSE 'CANCELLED' END AS target
      FROM unnest(:task_ids::uuid[], :claim_ids::uuid[], :states::text[], :results::jsonb[], :errors::jsonb[],
                  :delays_seconds::float8[], :charged::boolean[], :crashed::boolean[], :poisoned::boolean[],
                  :fingerprints::text[], :alerts::boolean[])
               AS o(id, claim_id, wanted, result, error, delay_seconds, charged, crashed, poisoned, fingerprint, alerts),
           LATERAL (SELECT ctid AS tid, state AS current_state, claim_id AS current_claim, lease_until, worker_id,
                           started_at, attempt, cancel_requested_at, demand_id
                      FROM tasks WHERE tasks.id = o.id FOR NO KEY UPDATE) t
), settled AS (
    UPDATE tasks SET
           state = locked.target,
           result = CASE WHEN locked.target = 'COMPLETED' THEN locked.result END,
           error = coalesce(locked.error, tasks.error),
           attempts_charged = attempts_charged + locked.charged::integer,
           crashes = crashes + locked.crashed::integer,
           poison_pill = locked.poisoned AND locked.target = 'FAILED',
           suspect = :only_lapsed::boolean AND locked.current_state IN {settleable} AND locked.target IN {claimable}
                     AND tasks.demand_id IS NULL,
           claim_id = CASE WHEN NOT :only_lapsed::boolean THEN tasks.claim_id END,
           hold_id = NULL,
           lease_until = NULL,
           run_at = CASE WHEN locked.target = 'RETRYING'
                         THEN clock_timestamp() + make_interval(secs => locked.delay_seconds) ELSE run_at END,
           queued_at = CASE WHEN locked.target = 'QUEUED' THEN clock_timestamp() ELSE queued_at END,
           rung_at = CASE WHEN locked.target = 'QUEUED' THEN clock_timestamp() ELSE rung_at END,
           finished_at = CASE WHEN locked.target IN {final} THEN clock_timestamp() END
      FROM locked
     WHERE tasks.ctid = locked.tid AND {may_end} AND locked.current_claim = locked.claim_id
       AND (NOT :only_lapsed::boolean OR locked.lease_until <= clock_timestamp())
    RETURNING tasks.id, tasks.state, tasks.document_id, tasks.space, tasks.task_type, tasks.rung_tier, tasks.generation, tasks.dag_id,
              tasks.poison_pill, tasks.has_dependents,
              {lane_waits},
              coalesce(locked.error ->> 'kind', '') AS reason
), failures AS (
    INSERT INTO task_failures (task_id, attempt, worker_id, kind, message, fingerprint, started_at, duration_seconds,
                               cost_usd)
    SELECT settled.id, locked.attempt, locked.worker_id, locked.error ->> 'kind', locked.error ->> 'message',
           locked.fingerprint, locked.started_at, extract(epoch FROM clock_timestamp() - locked.started_at),
           CASE WHEN locked.demand_id IS NULL THEN 0
                ELSE coalesce((SELECT cost_micros FROM agent_claims c WHERE c.claim_id = locked.claim_id), 0) / 1e6 END
      FROM settled JOIN locked ON locked.id = settled.id AND locked.claim_id = locked.current_claim
     WHERE locked.error IS NOT NULL AND settled.state NOT IN ('COMPLETED', 'CANCELLED')
    RETURNING *
), letters AS (
    -- The failures before this one are as of the statement's snapshot, which this one is not in.
    -- An answer has a letter only if others wait for the task: see `dead_letters.sql: write_awaited`.
    INSERT INTO dead_letters (task_id, generation, task_type, document_id, space, dag_id, kind, message, fingerprint,
                              poison_pill, recurring, total_cost_usd)
    SELECT f.task_id, s.generation, s.task_type, s.document_id, s.space, s.dag_id, f.kind, f.message, f.fingerprint,
           s.poison_pill, before.recurring, f.cost_usd + before.cost_usd
      FROM failures f JOIN settled s ON s.id = f.task_id,
           LATERAL (SELECT coalesce(bool_or(b.fingerprint = f.fingerprint AND b.worker_id <> f.worker_id), false)
                               AS recurring,
                           coalesce(sum(b.cost_usd), 0) AS cost_usd
                      FROM task_failures b WHERE b.task_id = f.task_id) before
     WHERE s.state IN {gave_up} AND f.kind NOT IN {answers}
    RETURNING task_id, generation, document_id, space
), alerted AS (
    INSERT INTO deliveries (destination, body)
    SELECT 'alerts', jsonb_build_object('taskId', letters.task_id, 'generation', letters.generation,
                                        'reason', 'dead_lettered')
      FROM letters JOIN locked ON locked.id = letters.task_id WHERE locked.alerts
), ended AS (
    SELECT * FROM settled
), {accounted}, happened AS (
    SELECT 1 AS turn, 'task.' || lower(state) AS kind, id, document_id, space FROM settled
    UNION ALL SELECT 2, 'task.dead_lettered', task_id, document_id, space FROM letters
), told AS (
    {told}
)
SELECT {settled} FROM settled

-- part: outcomes
-- How attempts ended that did not fail.
unnest(:task_ids::uuid[], :claim_ids::uuid[], :states::text[], :results::jsonb[]) AS o(id, claim_id, wanted, result)

-- part: ended_well
-- Ends what stands of the outcomes `o`, none of which is a failure and none awaited by
-- others: nearly everything, and a statement without what failures need is quicker.
locked AS MATERIALIZED (
    SELECT o.*, t.tid, t.current_state, t.current_claim, t.has_dependents,
           CASE WHEN t.cancel_requested_at IS NULL THEN o.wanted ELSE 'CANCELLED' END AS target
      FROM o,
           LATERAL (SELECT ctid AS tid, state AS current_state, claim_id AS current_claim, cancel_requested_at,
                           has_dependents
                      FROM tasks WHERE tasks.id = o.id FOR NO KEY UPDATE) t
), settled AS (
    UPDATE tasks SET
           state = locked.target,
           result = CASE WHEN locked.target = 'COMPLETED' THEN locked.result END,
           suspect = false,
           hold_id = NULL,
           lease_until = NULL,
           queued_at = CASE WHEN locked.target = 'QUEUED' THEN clock_timestamp() ELSE queued_at END,
           rung_at = CASE WHEN locked.target = 'QUEUED' THEN clock_timestamp() ELSE rung_at END,
           finished_at = CASE WHEN locked.target IN {final} THEN clock_timestamp() END
      FROM locked
     WHERE tasks.ctid = locked.tid AND {may_end} AND locked.current_claim = locked.claim_id
       AND NOT locked.has_dependents
    RETURNING tasks.id, tasks.state, tasks.document_id, tasks.space, tasks.task_type, tasks.rung_tier, tasks.has_dependents,
              {lane_waits},
              '' AS reason
)

-- name: settle_well
-- Does what `settle` does for attempts that did not fail and that nobody waits for. Without
-- lanes `settle_and_claim` does the same, and takes a fifth longer, for one and for many.
-- No row: as there, or somebody waits for it by now.
WITH o AS (SELECT * FROM {outcomes}), {ended_well}, ended AS (
    SELECT * FROM settled
), {accounted}, happened AS (
    SELECT 1 AS turn, 'task.' || lower(state) AS kind, id, document_id, space FROM settled
), told AS (
    {told}
)
SELECT {settled} FROM settled

-- part: followed
-- Claims the next heads of lanes whose task has ended for good. A head is looked up once
-- its lane's task has been ended, by reading from that update: the unique index of
-- occupants is asked in this order.
wanted AS MATERIALIZED (
    SELECT w.claim_id, w.hold_id, t.*
      FROM settled
      JOIN unnest(:lane_document_ids::text[], :lane_claim_ids::uuid[], :lane_hold_ids::uuid[])
               AS w(document_id, claim_id, hold_id)
        ON w.document_id = settled.document_id,
           LATERAL (SELECT id FROM tasks
                     WHERE tasks.document_id = w.document_id AND runnable AND state IN {claimable} AND {may_head}
                       AND id NOT IN (SELECT id FROM ended)
                     ORDER BY rank, seq LIMIT 1) head,
           LATERAL (SELECT ctid AS tid, id, {weighed}
                      FROM tasks WHERE tasks.id = head.id FOR NO KEY UPDATE SKIP LOCKED) t
     WHERE settled.state IN {final} AND NOT EXISTS ({pause_of} w.document_id OFFSET 0)
       AND NOT EXISTS ({occupant_of} w.document_id AND o.id <> settled.id OFFSET 0)
), {taken}

-- name: settle_and_claim
-- Does what `settle_well` does and claims the next heads of these lanes, for one commit instead
-- of two. No row: as there. No claim in a row: nothing can follow, or it takes a statement
-- of its own: what this one makes claimable it cannot see, so a lane whose task did not end
-- for good is left to `claim_lanes`.
WITH o AS (SELECT * FROM {outcomes}), {ended_well}, ended AS (
    SELECT * FROM settled
), {accounted}, {followed}, happened AS (
    SELECT 1 AS turn, 'task.' || lower(state) AS kind, id, document_id, space FROM settled
    UNION ALL SELECT 2, 'task.running', id, document_id, space FROM begun
    UNION ALL SELECT 2, 'task.' || lower(state), id, document_id, space FROM claimed
), told AS (
    {told}
)
SELECT {settled}, next.*
  FROM settled LEFT JOIN (SELECT {attempt} FROM claimed) next ON next.document_id = settled.document_id

-- name: settle_edits
-- Does what `settle_and_claim` does for attempts of which some made a revision: that is added,
-- with its pieces, and its document's head moved. One that does not follow what its document
-- is at is handed back, to start from there. With a completed edit its ahead end, as far as
-- they are what comes next in the lane, and are as they were read: they are claimed and ended
-- at once. With a claim come the conditions that its edit is under. No row: as there.
-- Documents are locked before tasks, by all who lock both.
WITH revised AS MATERIALIZED (
    SELECT e.*, coalesce(d.head = e.base, false) AS fits
      FROM unnest(:revision_task_ids::uuid[], :revision_document_ids::text[], :bases::bigint[],
                  :revision_task_types::text[], :authors::text[], :notes::text[], :sha256s::text[],
                  :sizes::bigint[], :recipes::bytea[], :titles::text[], :names::bytea[])
               AS e(task_id, document_id, base, task_type, author, note, sha256, size, recipe, title, names)
      LEFT JOIN LATERAL (SELECT head FROM documents
                          WHERE id = e.document_id AND deleted_at IS NULL FOR NO KEY UPDATE) d ON true
), o AS (
    SELECT o.id, o.claim_id, CASE WHEN r.fits IS FALSE THEN 'QUEUED' ELSE o.wanted END AS wanted, o.result
      FROM {outcomes}
      LEFT JOIN revised r ON r.task_id = o.id
), {ended_well}, ahead AS (
    SELECT r.*, settled.document_id
      FROM settled
      JOIN unnest(:ahead_leader_ids::uuid[], :ahead_places::integer[], :ahead_task_ids::uuid[],
                  :ahead_claim_ids::uuid[], :ahead_versions::text[], :ahead_results::jsonb[], :ahead_seconds::float8[])
               AS r(leader_id, place, task_id, claim_id, version, result, seconds)
        ON r.leader_id = settled.id
     WHERE settled.state = 'COMPLETED' AND NOT EXISTS ({pause_of} settled.document_id OFFSET 0)
), lined_up AS (
    SELECT l.leader_id, n.next_id, n.place
      FROM (SELECT leader_id, document_id, max(place) AS places FROM ahead GROUP BY 1, 2) l,
           LATERAL (SELECT id AS next_id, row_number() OVER (ORDER BY rank, seq) AS place FROM tasks
                     WHERE tasks.document_id = l.document_id AND runnable AND state IN {claimable} AND {may_head}
                     ORDER BY rank, seq LIMIT l.places) n
), in_turn AS MATERIALIZED (
    SELECT r.*, t.tid, bool_and(t.tid IS NOT NULL) OVER (PARTITION BY r.leader_id ORDER BY r.place) AS goes_along
      FROM ahead r
      LEFT JOIN lined_up n ON n.leader_id = r.leader_id AND n.place = r.place AND n.next_id = r.task_id
      LEFT JOIN LATERAL (SELECT id, task_type, space, ctid AS tid, xmin AS version
                           FROM tasks WHERE tasks.id = n.next_id FOR NO KEY UPDATE SKIP LOCKED) t
        ON t.version::text = r.version AND NOT {held}
), ended_ahead AS (
    UPDATE tasks SET state = 'COMPLETED', result = in_turn.result, attempt = attempt + 1, claim_id = in_turn.claim_id,
           worker_id = :worker_id::text, started_at = clock_timestamp() - make_interval(secs => in_turn.seconds),
           finished_at = clock_timestamp()
      FROM in_turn WHERE tasks.ctid = in_turn.tid AND in_turn.goes_along
    RETURNING tasks.*, in_turn.leader_id, in_turn.place
), ended AS (
    SELECT id, state, document_id, space, task_type, reason FROM settled
    UNION ALL SELECT id, state, document_id, space, task_type, '' FROM ended_ahead
), {accounted}, added AS (
    INSERT INTO revisions (document_id, revision, base, task_id, task_type, author, note, sha256, size, recipe, title,
                           names)
    SELECT r.document_id, r.base + 1, r.base, r.task_id, r.task_type, r.author, r.note, r.sha256, r.size, r.recipe,
           r.title, r.names
      FROM ended JOIN revised r ON r.task_id = ended.id WHERE ended.state = 'COMPLETED'
    RETURNING document_id, revision, task_id, title
), moved AS (
    UPDATE documents d SET head = newest.revision, updated_at = clock_timestamp(),
           title = nullif(coalesce(newest.title, d.title), '')
      FROM (SELECT document_id, max(revision) AS revision,
                   (array_agg(title ORDER BY revision DESC) FILTER (WHERE title IS NOT NULL))[1] AS title
              FROM added GROUP BY 1) newest
     WHERE d.id = newest.document_id
), kept AS (
    {pieces_kept}
), {followed}, happened AS (
    SELECT 1 AS turn, 'task.' || lower(state) AS kind, id, document_id, space FROM settled
    UNION ALL SELECT 2, 'task.running', id, document_id, space FROM ended_ahead
    UNION ALL SELECT 3, 'task.completed', id, document_id, space FROM ended_ahead
    UNION ALL SELECT 4, 'document.revised', task_id, document_id, NULL FROM added
    UNION ALL SELECT 5, 'task.running', id, document_id, space FROM begun
    UNION ALL SELECT 5, 'task.' || lower(state), id, document_id, space FROM claimed
), told AS (
    {told}
)
SELECT {settled}, next.*, e.base_revision, e.on_conflict,
       ARRAY(SELECT date_part('epoch', r.started_at - greatest(r.queued_at, r.run_at))
               FROM ended_ahead r WHERE r.leader_id = settled.id ORDER BY r.place) AS ahead_waited
  FROM settled
  LEFT JOIN (SELECT {attempt}, coalesce(on_behalf_of, created_by) AS author FROM claimed) next ON next.document_id = settled.document_id
  LEFT JOIN edit_conditions e ON e.task_id = next.id

-- name: count_fenced
-- Counts attempts that were lost before they could be settled. No row: never.
WITH counts AS (
    SELECT task_type, 'fenced' AS outcome, '' AS reason FROM unnest(:task_types::text[]) AS task_type
)
{counted}

-- name: rate_limits
-- How many rate limits in a row tasks have met with their last failures. No row: none.
SELECT f.task_id, count(*) AS n
  FROM task_failures f
 WHERE f.task_id = ANY(:task_ids::uuid[]) AND f.kind = 'rate_limited'
   AND NOT EXISTS (SELECT FROM task_failures later
                    WHERE later.task_id = f.task_id AND later.attempt > f.attempt AND later.kind <> 'rate_limited')
 GROUP BY f.task_id

-- name: standing
-- How claims stand after a settlement that gave no row for them. No row: pruned.
-- The owner's settlement keeps the claim id, everybody else's removes it: so a
-- claim that stands in an ended attempt was settled by its owner.
SELECT {settled}, settled.state IN {active} AS open
  FROM unnest(:task_ids::uuid[], :claim_ids::uuid[]) AS c(id, claim_id),
       (SELECT *, true AS lane_waits FROM tasks) settled
 WHERE settled.id = c.id AND settled.claim_id = c.claim_id

-- name: lapsed
-- Attempts whose lease ran out, with what else their worker had in hand. While
-- another lease of the same worker still runs, its death is not certain and one
-- heartbeat more is waited; of an agent each claim lapses by itself. No row: nobody is late.
SELECT {attempt_facts}, '' AS payload, NULL AS checkpoint, 0::float8 AS waited_seconds, t.worker_id,
       t.state IN {settleable} AS has_started, handler_seen, w.alive, w.held, w.suspects,
       t.demand_id IS NOT NULL AS is_of_agent,
       t.started_at + make_interval(secs => t.timeout_seconds) <= clock_timestamp() AS took_too_long
  FROM (SELECT worker_id, count(*) AS held, count(*) FILTER (WHERE suspect) AS suspects,
               bool_or(lease_until > clock_timestamp()) AS alive, min(lease_until) AS first
          FROM tasks WHERE runnable AND state IN {active} GROUP BY worker_id) w
  JOIN tasks t ON t.worker_id = w.worker_id AND t.runnable AND t.state IN {active}
 WHERE w.first <= clock_timestamp() AND t.lease_until <= clock_timestamp()
   AND (NOT w.alive OR t.demand_id IS NOT NULL OR t.lease_until <= clock_timestamp() - make_interval(secs => :heartbeat_seconds::float8))

-- name: suspend
-- Ends an attempt whose handler waits for a task that it has spawned, and stores the edge to
-- that. No row: the claim was lost, or the task was asked to stop; then what it would have
-- waited for, which the edge tells, is to end with it.
WITH locked AS (
    SELECT id, cancel_requested_at IS NOT NULL AS stops
      FROM tasks WHERE id = :task_id::uuid AND claim_id = :claim_id::uuid AND state = 'RUNNING' FOR NO KEY UPDATE
), suspended AS (
    UPDATE tasks SET state = 'PENDING', blockers = 1, unmet = 1, suspect = false, hold_id = NULL, lease_until = NULL,
           queued_at = NULL,
           lifts = tasks.lifts OR tasks.priority < awaited.priority
                   OR coalesce(tasks.deadline < coalesce(awaited.deadline, 'infinity'), false)
      FROM locked, (SELECT priority, deadline FROM tasks WHERE id = :spawned_id::uuid) awaited
     WHERE tasks.id = locked.id AND NOT locked.stops
    RETURNING tasks.id, tasks.state, tasks.rung_tier, tasks.task_type, tasks.document_id, tasks.space, tasks.has_dependents,
              true AS lane_waits
), waits AS (
    INSERT INTO task_edges (task_id, depends_on) SELECT id, :spawned_id::uuid FROM locked ON CONFLICT DO NOTHING
), happened AS (
    SELECT 1 AS turn, 'task.pending' AS kind, id, document_id, space FROM suspended
), told AS (
    {told}
), counts AS (
    SELECT qualified(space, task_type) AS task_type, 'pending' AS outcome, '' AS reason FROM suspended
), counted AS (
    {counted}
)
SELECT {settled} FROM suspended settled

-- name: ask_to_stop
-- Asks an attempt to stop because what it waits for was cancelled. No row: always.
UPDATE tasks SET cancel_requested_at = coalesce(cancel_requested_at, clock_timestamp()),
       cancel_reason = coalesce(cancel_reason, :reason::text)
 WHERE id = :task_id::uuid AND claim_id = :claim_id::uuid AND state = 'RUNNING'
