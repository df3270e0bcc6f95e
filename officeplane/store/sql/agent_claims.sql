-- Claims: those of agents, what their holders do with them, and what is left of them after their end.
-- A task is locked before its claims, by all who lock both; of several claims the lower id first. What was locked is
-- changed by its id, not by its place: a row that was waited for has moved, and a verb must not get lost for that.

-- name: look
-- How claims stand, with the attempts that they are for, and how those ended that failed. No row: there is no such
-- claim, or its task was removed.
SELECT t.id, c.claim_id, t.hold_id, t.task_type, t.space, t.document_id, '' AS payload, c.attempt,
       t.attempts_charged, t.crashes, t.suspect, t.max_retries, t.timeout_seconds, t.retry_policy::text AS retry_policy,
       NULL AS checkpoint, t.parent_id, t.ancestors, t.created_at, t.has_dependents,
       0::float8 AS waited_seconds, c.agent_id, c.generation, c.ended_at IS NULL AS is_open, c.ended_as, c.verb,
       c.answer::text AS answer, t.state, t.state IN {settleable} AS has_started, t.lease_until,
       t.attempt = c.attempt AND t.generation = c.generation AS is_latest,
       (SELECT f.kind FROM task_failures f WHERE f.task_id = c.task_id AND f.attempt = c.attempt) AS failed_with,
       EXISTS (SELECT FROM documents d WHERE d.id = t.document_id AND d.deleted_at IS NOT NULL) AS document_is_deleted,
       coalesce((t.agent_terms ->> 'requireDecisionReport')::boolean, false) AS requires_report,
       (SELECT d.result_schema::text FROM task_types d WHERE d.name = t.task_type) AS result_schema,
       a.status, coalesce(a.heartbeat_seconds, 30) AS heartbeat_seconds
  FROM agent_claims c JOIN tasks t ON t.id = c.task_id LEFT JOIN agents a ON a.id = c.agent_id
 WHERE c.claim_id = ANY(:claim_ids::uuid[])

-- part: totals
-- Of two objects of numbers: the larger one of each; null if there is none at all.
(SELECT jsonb_object_agg(name, greatest((c.tokens ->> name)::bigint, (s.tokens ->> name)::bigint))
   FROM jsonb_object_keys(coalesce(c.tokens, '{}') || coalesce(s.tokens, '{}')) AS name)

-- name: book
-- Books what claims have cost so far, whatever has become of them: totals, of which a lower one is older.
-- No row: that is known.
WITH s AS MATERIALIZED (
    SELECT s.* FROM unnest(:claim_ids::uuid[], :costs::bigint[], :tokens::jsonb[]) AS s(claim_id, cost, tokens)
), c AS MATERIALIZED (
    SELECT claim_id, cost_micros, tokens FROM agent_claims
     WHERE claim_id IN (SELECT claim_id FROM s) ORDER BY claim_id FOR NO KEY UPDATE
), totals AS (
    SELECT c.claim_id, greatest(c.cost_micros, s.cost) AS cost, {totals} AS tokens
      FROM s JOIN c USING (claim_id)
     WHERE (greatest(c.cost_micros, s.cost), {totals}) IS DISTINCT FROM (c.cost_micros, c.tokens)
)
UPDATE agent_claims SET cost_micros = totals.cost, tokens = totals.tokens
  FROM totals WHERE agent_claims.claim_id = totals.claim_id
RETURNING agent_claims.claim_id

-- part: lease_of_agents
-- Until when an attempt of an agent is good that was heard of now: until it takes too long, at most.
least(clock_timestamp() + make_interval(secs => :lease_seconds::float8),
      started_at + make_interval(secs => timeout_seconds))

-- name: go_on
-- Lets the holder of a claim go on: starts what was only reserved, extends the lease, keeps a checkpoint if there is
-- one. No row: the claim has ended.
WITH locked AS MATERIALIZED (
    SELECT id, state, CASE WHEN state IN {reserved} THEN clock_timestamp() ELSE started_at END AS begun_at
      FROM tasks WHERE id = :task_id::uuid AND claim_id = :claim_id::uuid AND state IN {active} FOR NO KEY UPDATE
), gone_on AS (
    UPDATE tasks SET state = CASE WHEN locked.state IN {reserved} THEN 'RUNNING' ELSE locked.state END,
           started_at = locked.begun_at,
           lease_until = least(clock_timestamp() + make_interval(secs => :lease_seconds::float8),
                               locked.begun_at + make_interval(secs => timeout_seconds)),
           handler_seen = true, checkpoint = coalesce(:checkpoint::jsonb, checkpoint)
      FROM locked WHERE tasks.id = locked.id
    RETURNING tasks.id, document_id, space, locked.state IN {reserved} AS is_started
), beaten AS (
    UPDATE agent_claims SET beaten_at = clock_timestamp() FROM gone_on WHERE claim_id = :claim_id::uuid
), happened AS (
    SELECT 1 AS turn, 'task.running' AS kind, id, document_id, space FROM gone_on WHERE is_started
), told AS (
    {told}
)
SELECT id FROM gone_on

-- name: beat
-- Extends the leases of claims that were not heard of for a second; what has not started keeps the time that it has
-- for that. No row: they were heard of just now, have ended, or are locked by another for a moment.
WITH heard AS MATERIALIZED (
    SELECT c.claim_id, c.task_id, b.progress
      FROM unnest(:claim_ids::uuid[], :progress::jsonb[]) AS b(claim_id, progress) JOIN agent_claims c USING (claim_id)
     WHERE c.ended_at IS NULL AND coalesce(c.beaten_at <= clock_timestamp() - interval '1 second', true)
), locked AS MATERIALIZED (
    SELECT heard.claim_id, heard.progress, t.id
      FROM heard,
           LATERAL (SELECT id, state, claim_id
                      FROM tasks WHERE tasks.id = heard.task_id FOR NO KEY UPDATE SKIP LOCKED) t
     WHERE t.claim_id = heard.claim_id AND t.state IN {active}
), renewed AS (
    UPDATE tasks SET lease_until = CASE WHEN state IN {settleable} THEN {lease_of_agents} ELSE lease_until END,
           handler_seen = true, progress = coalesce(locked.progress, tasks.progress)
      FROM locked WHERE tasks.id = locked.id
), ordered AS MATERIALIZED (
    SELECT claim_id FROM agent_claims
     WHERE claim_id IN (SELECT claim_id FROM locked) ORDER BY claim_id FOR NO KEY UPDATE
)
UPDATE agent_claims SET beaten_at = clock_timestamp()
  FROM ordered WHERE agent_claims.claim_id = ordered.claim_id
RETURNING agent_claims.claim_id

-- name: answered
-- Notes with which verb its holder has ended a claim in this transaction, and what that is answered. No row: never.
UPDATE agent_claims SET verb = :verb::text, answer = :answer::jsonb, late = :late::boolean,
       decision_report = coalesce(:report::jsonb, decision_report), ended_as = :state::text,
       ended_at = coalesce(ended_at, clock_timestamp())
 WHERE claim_id = :claim_id::uuid
RETURNING claim_id

-- name: take_up
-- Takes an attempt up again whose lease ran out, if nothing has begun anew since and nobody is in its lane. No row:
-- it is too late.
WITH found AS MATERIALIZED (
    SELECT id, {is_younger} FROM tasks
     WHERE id = :task_id::uuid AND state IN {claimable} AND claim_id IS NULL AND attempt = :attempt::integer
       AND generation = :generation::integer FOR NO KEY UPDATE
), taken_up AS (
    UPDATE tasks SET state = 'RUNNING', claim_id = :claim_id::uuid, worker_id = :worker_id::text,
           lease_until = clock_timestamp() + make_interval(secs => :lease_seconds::float8)
      FROM found
     WHERE tasks.id = found.id AND (document_id IS NULL OR NOT EXISTS ({occupant_of} tasks.document_id))
    RETURNING tasks.id, document_id, space, is_younger
), happened AS (
    SELECT 1 AS turn, 'task.running' AS kind, id, document_id, space FROM taken_up
), told AS (
    {told}
)
SELECT id, is_younger FROM taken_up

-- name: keep_late
-- Keeps a result that came too late to count, for whoever wants to read it. No row: one was kept before, or the
-- claim's end was no such.
UPDATE agent_claims SET late_result = :result::jsonb
 WHERE claim_id = :claim_id::uuid AND late_result IS NULL AND verb IS NULL AND ended_at IS NOT NULL
RETURNING claim_id

-- name: decline
-- Notes that an agent does not want a task, and tells of a task that was declined five times. Always one row.
WITH declined AS (
    INSERT INTO agent_declines AS d (task_id, agent_id) VALUES (:task_id::uuid, :agent_id::text)
    ON CONFLICT (task_id, agent_id) DO UPDATE SET declined_at = clock_timestamp(), times = d.times + 1
    RETURNING times
), happened AS (
    SELECT 1 AS turn, 'task.unclaimable' AS kind, t.id, t.document_id, t.space
      FROM tasks t, declined,
           LATERAL (SELECT coalesce(sum(times), 0) AS times FROM agent_declines
                     WHERE task_id = t.id AND agent_id <> :agent_id::text) others
     WHERE t.id = :task_id::uuid AND declined.times + others.times = :times_told::integer
), told AS (
    {told}
)
SELECT times FROM declined

-- name: seen
-- Notes that an agent is there; `ended` says that it has ended a claim itself. No row: there is no such agent, or it
-- was seen just now.
UPDATE agents SET last_seen_at = clock_timestamp(),
       lapses_in_row = CASE WHEN :ended::boolean THEN 0 ELSE lapses_in_row END
 WHERE id = :agent_id::text
   AND (last_seen_at <= clock_timestamp() - interval '1 second' OR :ended::boolean AND lapses_in_row > 0)
RETURNING id

-- name: status
-- The status of agents, and how often they say that they are there. No row: no such agent.
SELECT id, status, heartbeat_seconds FROM agents WHERE id = ANY(:agent_ids::text[])

-- name: ended_among
-- Which of these claims have ended. No row: they stand, or there are no such.
SELECT claim_id FROM agent_claims WHERE claim_id = ANY(:claim_ids::uuid[]) AND ended_at IS NOT NULL

-- name: count_lapses
-- Counts claims that agents have let run out, and pauses those that did nothing else for so many: it is told of the
-- last of their tasks. Once they are active again they begin anew. No row: none is paused by it.
WITH lapsed AS (
    SELECT l.agent_id, count(*) AS n, (array_agg(l.task_id ORDER BY l.task_id DESC))[1] AS task_id
      FROM unnest(:agent_ids::text[], :task_ids::uuid[]) AS l(agent_id, task_id) GROUP BY 1
), before AS MATERIALIZED (
    SELECT a.id, lapsed.task_id, a.lapses_in_row + lapsed.n AS n,
           a.lapses_in_row + lapsed.n >= :lapses_max::integer AND a.status = 'active' AS goes_too_far
      FROM agents a JOIN lapsed ON lapsed.agent_id = a.id ORDER BY a.id FOR NO KEY UPDATE OF a
), counted AS (
    UPDATE agents SET lapses_in_row = CASE WHEN before.goes_too_far THEN 0 ELSE least(before.n, 1000) END,
           status = CASE WHEN before.goes_too_far THEN 'paused' ELSE status END,
           held_by = CASE WHEN before.goes_too_far THEN 'system' ELSE held_by END
      FROM before WHERE agents.id = before.id
    RETURNING agents.id, before.task_id, before.goes_too_far
), alerted AS (
    INSERT INTO deliveries (destination, body)
    SELECT 'alerts', jsonb_build_object('agentId', id, 'reason', 'agent_paused') FROM counted
     WHERE goes_too_far AND :alerts::boolean
), happened AS (
    SELECT 1 AS turn, 'agent.paused' AS kind, t.id, t.document_id, t.space
      FROM counted JOIN tasks t ON t.id = counted.task_id WHERE counted.goes_too_far
), told AS (
    {told}
)
SELECT id FROM counted WHERE goes_too_far

-- name: failed_at
-- Which agents have failed at tasks in their present generation, in attempts that were charged. No row: none has.
SELECT c.task_id, array_agg(DISTINCT c.agent_id) AS agent_ids
  FROM agent_claims c
  JOIN tasks t ON t.id = c.task_id AND t.generation = c.generation
  JOIN task_failures f ON f.task_id = c.task_id AND f.attempt = c.attempt
 WHERE c.task_id = ANY(:task_ids::uuid[]) AND f.kind <> ALL(:uncharged::text[])
   AND (f.kind <> 'crash' OR c.beaten_at IS NOT NULL)
 GROUP BY c.task_id

-- name: of_tasks
-- The claims of tasks that agents do, in order; what may be long only if it is wanted. No row: no agent has claimed them.
SELECT task_id, generation, attempt, agent_id, model, claimed_at, beaten_at, cost_micros, tokens::text AS tokens,
       CASE WHEN :whole::boolean THEN decision_report::text END AS decision_report,
       CASE WHEN :whole::boolean THEN late_result::text END AS late_result
  FROM agent_claims WHERE task_id = ANY(:task_ids::uuid[]) ORDER BY task_id, attempt

-- name: prune
-- Forgets results that came too late and requests to claim that nobody repeats any more. The claims go with their
-- tasks, which show what they have cost. Always one row.
WITH late AS (
    UPDATE agent_claims SET late_result = NULL
     WHERE claim_id IN (SELECT claim_id FROM agent_claims
                         WHERE late_result IS NOT NULL
                           AND ended_at < clock_timestamp() - make_interval(secs => :late_seconds::float8)
                         ORDER BY ended_at LIMIT :limit::integer)
    RETURNING claim_id
), keys AS (
    DELETE FROM agent_claim_keys
     WHERE (agent_id, key) IN (SELECT agent_id, key FROM agent_claim_keys
                                WHERE created_at < clock_timestamp() - make_interval(secs => :key_seconds::float8)
                                ORDER BY created_at LIMIT :limit::integer)
    RETURNING key
)
SELECT (SELECT count(*) FROM late) + (SELECT count(*) FROM keys) AS forgotten
