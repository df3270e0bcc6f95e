-- Offers: what of all that waits an agent might have. What is told is a guess, made without a lock.

-- part: of_demand
-- Of a task `w`: agents do it, and it makes the demand `d`.
w.runnable AND w.demand_id IS NOT NULL AND w.demand_id = d.id

-- part: is_waited_for
-- Of a demand `d`: something that makes it waits. The first of an index, and not whether there is one: a planner
-- that is asked that may read the table until something turns up.
(SELECT true FROM tasks w WHERE {of_demand} AND w.state IN {claimable} ORDER BY w.rank, w.seq LIMIT 1)

-- part: known_to
-- Of a demand `d`: it is of the space and one of the types of an agent.
d.space = :space::text AND d.task_type = ANY(:task_types::text[])

-- part: done_by_models
-- Of a demand `d`: one of these models will do, first or later.
(d.models = '{}' OR d.models && :models::text[] OR d.fallback_models && :models::text[])

-- name: demands_met
-- The demands that an agent meets of which something waits. No row: there is nothing for it.
SELECT d.id FROM demands d
 WHERE {known_to} AND d.capabilities <@ :capabilities::text[] AND {done_by_models} AND {is_waited_for}

-- name: demands_waiting
-- The demands of these types of which something may be claimed by its time. No row: there is none.
SELECT d.id, d.space, d.task_type, d.capabilities, d.models, d.fallback_models FROM demands d
 WHERE d.task_type = ANY(:task_types::text[])
   AND coalesce((SELECT true FROM tasks w WHERE {of_demand} AND w.document_id IS NULL AND w.state = 'QUEUED'
                  ORDER BY w.rank, w.seq LIMIT 1),
                (SELECT true FROM tasks w WHERE {of_demand} AND w.document_id IS NOT NULL AND w.state = 'QUEUED'
                    AND w.state IN {claimable} ORDER BY w.document_id, w.rank, w.seq LIMIT 1),
                (SELECT true FROM tasks w WHERE {of_demand} AND w.state = 'RETRYING' AND w.run_at <= now()
                  ORDER BY w.run_at LIMIT 1))

-- part: looked_at
-- What is looked at of a task `t` before it is offered.
t.id, t.document_id, t.task_type, t.space, t.run_at, t.rank, t.seq, t.yields

-- part: makes
-- Of a task `t`: it waits, and makes the demand `d`, whose models will do by now; this agent has not just declined it.
-- As a CASE, because a planner that thinks that few tasks pass reads all of a demand, sorts them, and keeps some.
t.runnable AND t.demand_id IS NOT NULL AND t.demand_id = d.id AND t.state IN {claimable}
AND CASE WHEN {done_with} THEN t.id NOT IN (SELECT task_id FROM declined) ELSE false END

-- part: declined
declined AS MATERIALIZED (
    SELECT task_id FROM agent_declines
     WHERE agent_id = :agent_id::text
       AND declined_at > clock_timestamp() - make_interval(secs => :declined_seconds::float8)
)

-- name: look
-- What an agent may claim, the most urgent first; `limited`: if limits admit it. Of each demand that it meets
-- are looked at the most urgent tasks; beside them those without a document, so that a deep lane cannot hide
-- them; those whose back-off is over; and the lanes after a given document, and those named. Of what has a
-- document only the head of its lane is offered. By the transaction's time, an index is read no further than to it. Always a row, for `last_lane`; no id: there is nothing for it.
WITH RECURSIVE {declined}, lanes AS (
    SELECT t.*, d.id AS demand_id, 1 AS n FROM demands d,
           LATERAL (SELECT {looked_at} FROM tasks t
                     WHERE t.document_id > :after_lane::text AND t.document_id IS NOT NULL AND {makes}
                     ORDER BY t.document_id, t.rank, t.seq LIMIT 1) t
     WHERE d.id = ANY(:demand_ids::integer[])
    UNION ALL
    SELECT t.*, d.id, lanes.n + 1 FROM lanes JOIN demands d ON d.id = lanes.demand_id,
           LATERAL (SELECT {looked_at} FROM tasks t
                     WHERE t.document_id > lanes.document_id AND t.document_id IS NOT NULL AND {makes}
                     ORDER BY t.document_id, t.rank, t.seq LIMIT 1) t
     WHERE lanes.n < :lanes::integer
), candidates AS (
    SELECT id, document_id, task_type, space, run_at, rank, seq, yields FROM lanes
    UNION ALL
    SELECT t.* FROM demands d,
           LATERAL ((SELECT {looked_at} FROM tasks t WHERE {makes} ORDER BY t.rank, t.seq LIMIT :each::integer)
                    UNION ALL
                    (SELECT {looked_at} FROM tasks t
                      WHERE t.document_id IS NULL AND t.state = 'QUEUED' AND {makes}
                      ORDER BY t.rank, t.seq LIMIT :each::integer)
                    UNION ALL
                    (SELECT {looked_at} FROM tasks t
                      WHERE t.state = 'RETRYING' AND t.run_at <= now() AND {makes}
                      ORDER BY t.run_at LIMIT :each::integer)) t
     WHERE d.id = ANY(:demand_ids::integer[])
    UNION ALL
    SELECT t.* FROM demands d, unnest(:lane_names::text[]) AS lane(name),
           LATERAL (SELECT {looked_at} FROM tasks t
                     WHERE t.document_id = lane.name AND t.document_id IS NOT NULL AND {makes}
                     ORDER BY t.rank, t.seq LIMIT 1) t
     WHERE d.id = ANY(:demand_ids::integer[])
), firsts AS (
    -- Of a lane no other than the first of these can be its head.
    SELECT DISTINCT ON (coalesce(document_id, id::text)) * FROM candidates
     WHERE NOT yields OR run_at <= clock_timestamp() AND {has_room}
     ORDER BY coalesce(document_id, id::text), rank, seq
), offered AS (
    SELECT id, document_id, rank, seq, qualified(space, task_type) AS qualified_type,
           qualified(space, task_type) IN (SELECT v.task_type FROM valves v WHERE v.limited) AS limited
      -- Whether a task can be had is looked at in this order, and for no more than are wanted.
      FROM (SELECT * FROM firsts ORDER BY rank, seq OFFSET 0) c
     WHERE run_at <= clock_timestamp() AND {has_room}
       AND (:seen_documents::text[] IS NULL OR coalesce(document_id, '') LIKE ANY(:seen_documents::text[]))
       AND (document_id IS NULL
            OR NOT EXISTS ({pause_of} c.document_id OFFSET 0) AND NOT EXISTS ({occupant_of} c.document_id OFFSET 0)
               AND c.id = (SELECT id FROM tasks
                            WHERE tasks.document_id = c.document_id AND runnable AND state IN {claimable}
                              AND (NOT yields OR run_at <= clock_timestamp() AND {has_room})
                            ORDER BY rank, seq LIMIT 1))
     ORDER BY rank, seq LIMIT :limit::integer
)
SELECT offered.id, offered.document_id, offered.limited, offered.qualified_type, seen.last_lane
  FROM (SELECT min(last) AS last_lane
          FROM (SELECT max(document_id) AS last FROM lanes GROUP BY demand_id HAVING count(*) = :lanes::integer) ends) seen
  LEFT JOIN offered ON true
 ORDER BY offered.rank, offered.seq

-- name: skipped
-- Why an agent was given nothing of what waits, as far as a short look tells, and in how many seconds a type that
-- waits for its time goes on (null: none does). Always one row.
WITH {declined}, known AS MATERIALIZED (
    SELECT d.*, d.capabilities <@ :capabilities::text[] AS is_capable, {done_by_models} AS has_model
      FROM demands d WHERE {known_to} AND {is_waited_for}
), met AS MATERIALIZED (
    SELECT * FROM known WHERE is_capable AND has_model
), seen AS MATERIALIZED (
    SELECT t.*, {done_with} AS is_done_with
      FROM met d, LATERAL (SELECT t.id, t.document_id, t.attempts_charged FROM tasks t
                            WHERE t.runnable AND t.demand_id IS NOT NULL AND t.demand_id = d.id AND t.state IN {claimable}
                            ORDER BY t.rank, t.seq LIMIT :each::integer) t
)
SELECT EXISTS (SELECT FROM known WHERE NOT is_capable) AS capability,
       EXISTS (SELECT FROM known WHERE is_capable AND NOT has_model)
           OR EXISTS (SELECT FROM seen WHERE NOT is_done_with) AS model,
       EXISTS (SELECT FROM met JOIN valves v ON v.task_type = qualified(met.space, met.task_type) WHERE v.paused)
           OR EXISTS (SELECT FROM seen WHERE EXISTS ({pause_of} seen.document_id OFFSET 0)) AS paused,
       EXISTS (SELECT FROM seen WHERE id IN (SELECT task_id FROM declined)
                  OR coalesce(document_id, '') NOT LIKE ALL(:seen_documents::text[])) AS excluded,
       (SELECT min(w.seconds)
          FROM valves v,
               LATERAL (SELECT greatest(extract(epoch FROM v.slow_until - clock_timestamp()),
                                        CASE WHEN v.breaker = 'open' THEN extract(epoch FROM v.retry_at - clock_timestamp()) END,
                                        (1 - {tokens}) / v.rate_per_second)::float8 AS seconds) w
         WHERE v.task_type IN (SELECT qualified(met.space, met.task_type) FROM met) AND NOT v.paused AND w.seconds > 0) AS seconds

-- name: previous_attempts
-- The last failed attempts of tasks, the latest last, with who made them by which model, and what came too late of
-- them. No row: none failed.
SELECT f.task_id, f.attempt, f.kind, f.message, c.agent_id, c.model, c.late_result
  FROM unnest(:task_ids::uuid[]) AS t(id),
       LATERAL (SELECT task_id, attempt, kind, message FROM task_failures
                 WHERE task_id = t.id ORDER BY attempt DESC LIMIT :limit::integer) f
  LEFT JOIN agent_claims c ON c.task_id = f.task_id AND c.attempt = f.attempt
 ORDER BY f.task_id, f.attempt
