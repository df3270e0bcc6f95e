-- Valves: what keeps tasks of a type in a space, or of a document, from being claimed. What is called
-- `task_type` here is, as that of the table, a type as it is called inside: `qualified(space, task_type)`.

-- part: held
-- Of a task: nothing of its type in its space is to be claimed now, and it is no probe. The few rows
-- there may be are read once a statement, and not at all for what each task looks like.
(qualified(space, task_type) IN (SELECT v.task_type FROM valves v
                WHERE v.paused OR v.breaker <> 'closed' OR v.limited OR v.slow_until > clock_timestamp())
 AND id NOT IN (SELECT v.probe_task_id FROM valves v
                 WHERE v.breaker = 'half_open' AND v.probe_until > clock_timestamp() AND NOT v.paused AND NOT v.limited
                   AND (v.slow_until IS NULL OR v.slow_until <= clock_timestamp())))

-- part: may_head
-- Of a task: it is its lane's head if nothing comes before it. One that yields stands
-- aside while it has to wait.
(NOT yields OR (run_at <= clock_timestamp() AND NOT {held}))

-- part: pause_of
-- Of a document, whose name is to follow, with its table's: its lane is paused. One look into the index for
-- each lane at hand: there may be as many pauses as documents. As a set, or as a join,
-- all of them would be read by every statement that claims.
SELECT FROM paused_documents p WHERE p.document_id =

-- part: occupant_of
-- Of a document, whose name is to follow in the same way: a task of it is in hand.
SELECT FROM tasks o WHERE o.runnable AND o.state IN {active} AND o.document_id =

-- name: set_paused
-- Says whether a type is paused. Always one row.
INSERT INTO valves (task_type, paused) VALUES (:task_type::text, :paused::boolean)
ON CONFLICT (task_type) DO UPDATE SET paused = excluded.paused
RETURNING paused

-- name: pause_document
-- Pauses the lane of a document that is there, or in which something has still to be done.
-- The document is locked, so that it is not deleted meanwhile, which ends its pause.
-- No row: there is neither.
WITH document AS MATERIALIZED (
    SELECT id FROM documents WHERE id = :document_id::text AND deleted_at IS NULL FOR SHARE
)
INSERT INTO paused_documents AS p (document_id, space)
SELECT :document_id::text, :space::text
 WHERE EXISTS (SELECT FROM document)
    OR EXISTS (SELECT FROM tasks t WHERE t.document_id = :document_id::text AND t.state IN {unfinished})
    OR EXISTS ({pause_of} :document_id::text)
ON CONFLICT (document_id) DO UPDATE SET paused_at = p.paused_at
RETURNING document_id

-- name: resume_document
-- Lets a document's lane go on. No row: it was not paused, there is no such document, and
-- nothing has still to be done in its lane.
WITH resumed AS (
    DELETE FROM paused_documents WHERE document_id = :document_id::text
)
SELECT :document_id::text AS document_id
 WHERE EXISTS ({pause_of} :document_id::text)
    OR EXISTS (SELECT FROM documents WHERE id = :document_id::text AND deleted_at IS NULL)
    OR EXISTS (SELECT FROM tasks t WHERE t.document_id = :document_id::text AND t.state IN {unfinished})

-- name: is_paused
-- Whether a document's lane is paused. Always one row.
SELECT EXISTS (SELECT FROM paused_documents WHERE document_id = :document_id::text) AS paused

-- part: valve
task_type, paused, slow_until, breaker, failures, failure_threshold, half_open_after_seconds, opened_at, retry_at,
rate_per_second, concurrency

-- name: fetch
-- The valve of a type. No row: nothing keeps its tasks.
SELECT {valve} FROM valves WHERE task_type = :task_type::text

-- name: lock
-- The same, locked, by whoever changes it. No row: nothing keeps its tasks yet.
SELECT {valve} FROM valves WHERE task_type = :task_type::text FOR NO KEY UPDATE

-- name: of_space
-- The valves of a space that were ever touched, by type. No row: none was.
SELECT {valve} FROM valves WHERE {space_inside} = :space::text ORDER BY task_type

-- part: ready
-- Of a task that `v` is the valve of: it could be claimed if that let it through.
qualified(t.space, t.task_type) = v.task_type AND t.runnable AND t.state IN {claimable} AND t.run_at <= clock_timestamp()
AND (t.document_id IS NULL
     OR NOT EXISTS ({pause_of} t.document_id OFFSET 0)
        AND NOT EXISTS ({occupant_of} t.document_id)
        AND NOT EXISTS (SELECT FROM tasks
                         WHERE tasks.document_id = t.document_id AND runnable AND state IN {claimable}
                           AND (rank, seq) < (t.rank, t.seq) AND {may_head}))

-- name: ring
-- Marks as rung, and returns, the most urgent tasks of types that could be claimed, so
-- many of each: those last rung so long ago or longer, and before their list's cut-off
-- (as for `unrung`; null for no cut-offs at all). No row: none waits.
WITH chosen AS MATERIALIZED (
    SELECT t.id FROM unnest(:task_types::text[], :wanted::integer[]) AS v(task_type, wanted),
           LATERAL (SELECT t.id FROM tasks t
                     WHERE {ready} AND t.demand_id IS NULL AND t.rung_at <= clock_timestamp() - make_interval(secs => :rung_ago::float8)
                       AND (:cutoffs::timestamptz[] IS NULL OR t.rung_at < (:cutoffs::timestamptz[])
                                [4 * coalesce(array_position(:spaces::text[], t.space), 0) + t.rung_tier + 1])
                     ORDER BY t.rank, t.seq LIMIT v.wanted) t
), locked AS MATERIALIZED (
    SELECT l.tid FROM chosen,
           LATERAL (SELECT ctid AS tid, state FROM tasks WHERE tasks.id = chosen.id FOR NO KEY UPDATE SKIP LOCKED) l
     WHERE l.state IN {claimable}
), rung AS (
    UPDATE tasks SET rung_at = clock_timestamp(),
           rung_tier = tier_of(rank - {boost_now})
     WHERE ctid = ANY(ARRAY(SELECT tid FROM locked))
    RETURNING id, rung_tier, space, rank, seq
)
SELECT id, rung_tier, space FROM rung ORDER BY rank, seq

-- name: slow_down
-- Slows types down for at least so many seconds from now. No row: never.
INSERT INTO valves AS v (task_type, slow_until)
SELECT s.task_type, clock_timestamp() + make_interval(secs => max(s.seconds))
  FROM unnest(:task_types::text[], :seconds::float8[]) AS s(task_type, seconds) GROUP BY s.task_type ORDER BY s.task_type
ON CONFLICT (task_type) DO UPDATE SET slow_until = greatest(v.slow_until, excluded.slow_until)
RETURNING task_type

-- name: count_failures
-- Counts failed attempts in a row, one for each time a type is named; crashes by one
-- document or task (null for other failures) only once in a row. A thousand names are enough to open
-- any breaker that is meant to open. No row: never.
INSERT INTO valves AS v (task_type, failures, crashed_by)
SELECT f.task_type, count(*) FILTER (WHERE f.crashed_by IS NULL) + count(DISTINCT f.crashed_by),
       array_remove(array_agg(DISTINCT f.crashed_by), NULL)
  FROM unnest(:task_types::text[], :crashed_by::text[]) AS f(task_type, crashed_by) GROUP BY f.task_type ORDER BY f.task_type
ON CONFLICT (task_type) DO UPDATE
   SET failures = v.failures + excluded.failures
                  - (SELECT count(*) FROM unnest(excluded.crashed_by) c WHERE v.failures > 0 AND c = ANY(v.crashed_by)),
       crashed_by = CASE WHEN v.failures = 0 THEN excluded.crashed_by
                         ELSE (v.crashed_by || ARRAY(SELECT c FROM unnest(excluded.crashed_by) c
                                                      WHERE c <> ALL(v.crashed_by)))[:1000] END
RETURNING task_type

-- part: opening
breaker = 'open', opened_at = clock_timestamp(), probe_task_id = NULL, probe_until = NULL,
retry_at = clock_timestamp()
           + make_interval(secs => coalesce(valves.half_open_after_seconds, :half_open_after_seconds::float8))

-- part: closing
breaker = 'closed', failures = 0, opened_at = NULL, retry_at = NULL, probe_task_id = NULL, probe_until = NULL

-- name: open_strained
-- Opens the breakers of types that failed too often in a row, or whose probe failed. No row: none did.
UPDATE valves SET {opening}
 WHERE task_type = ANY(:task_types::text[])
   AND (breaker = 'closed' AND failures >= coalesce(failure_threshold, :failure_threshold::integer)
        OR breaker = 'half_open' AND probe_task_id = ANY(:task_ids::uuid[]))
RETURNING task_type

-- name: open_by_hand
-- Opens a type's breaker, whatever it was. Always one row.
INSERT INTO valves (task_type, breaker, opened_at, retry_at)
VALUES (:task_type::text, 'open', clock_timestamp(),
        clock_timestamp() + make_interval(secs => :half_open_after_seconds::float8))
ON CONFLICT (task_type) DO UPDATE SET {opening}
RETURNING task_type

-- name: close_by_hand
-- Closes a type's breaker and forgets its failures. No row: there was nothing to forget.
UPDATE valves SET {closing} WHERE task_type = :task_type::text RETURNING task_type

-- name: set_breaker
-- Gives a type's breaker a threshold and a time of its own, or the installation's again. Always one row.
INSERT INTO valves AS v (task_type, failure_threshold, half_open_after_seconds)
VALUES (:task_type::text, :failure_threshold::integer, :half_open_after_seconds::float8)
ON CONFLICT (task_type) DO UPDATE
   SET failure_threshold = excluded.failure_threshold, half_open_after_seconds = excluded.half_open_after_seconds,
       retry_at = v.opened_at + make_interval(secs => coalesce(excluded.half_open_after_seconds, :default_seconds::float8))
RETURNING task_type

-- name: survey
-- Seconds until a valve has to be looked after, and which kinds of valves there are. Always one row; null: never.
SELECT extract(epoch FROM min(least(slow_until, CASE WHEN breaker = 'open' THEN retry_at END))
                          - clock_timestamp())::float8 AS next_seconds,
       coalesce(bool_or(breaker = 'half_open'), false) AS probing, coalesce(bool_or(limited), false) AS limited
  FROM valves

-- name: end_slowdowns
-- Ends slowdowns whose time is over. No row: none is.
UPDATE valves SET slow_until = NULL WHERE slow_until <= clock_timestamp() RETURNING task_type

-- name: half_open
-- Lets types be tried again whose breaker was open for long enough. No row: none was.
UPDATE valves SET breaker = 'half_open' WHERE breaker = 'open' AND retry_at <= clock_timestamp() RETURNING task_type

-- name: probes
-- Half-open breakers that may be tried now, each with the task that was let through, if one
-- was. A statement that claims reads the clock once for all it takes; a second is left to
-- it for the rest. No row: none may.
SELECT task_type, probe_task_id,
       coalesce(probe_until > clock_timestamp() - interval '1 second', false) AS may_be_claimed
  FROM valves
 WHERE breaker = 'half_open' AND NOT paused AND (slow_until IS NULL OR slow_until <= clock_timestamp())

-- name: lock_probes
-- How these tasks stand, until the transaction ends. No row: it is gone.
SELECT id, state, run_at <= clock_timestamp() AS is_due FROM tasks
 WHERE id = ANY(:task_ids::uuid[]) ORDER BY id FOR NO KEY UPDATE

-- name: close_after
-- Closes the breakers whose probes these are. No row: none is any more.
UPDATE valves SET {closing} WHERE breaker = 'half_open' AND probe_task_id = ANY(:task_ids::uuid[]) RETURNING task_type

-- name: choose_probes
-- Lets one task of each half-open type through instead of the last, to be claimed within
-- so many seconds. No row: none waits, or another was chosen meanwhile.
WITH chosen AS (
    SELECT v.task_type, v.last, t.id, t.rung_tier, t.space
      FROM unnest(:task_types::text[], :task_ids::uuid[]) AS v(task_type, last),
           LATERAL (SELECT t.id, t.space, tier_of(t.rank - {boost_now}) AS rung_tier
                      FROM tasks t WHERE {ready}
                     ORDER BY t.id IS NOT DISTINCT FROM v.last, t.suspect, t.rank, t.seq LIMIT 1) t
)
UPDATE valves SET probe_task_id = chosen.id, probe_until = clock_timestamp() + make_interval(secs => :seconds::float8)
  FROM chosen
 WHERE valves.task_type = chosen.task_type AND valves.breaker = 'half_open'
   AND valves.probe_task_id IS NOT DISTINCT FROM chosen.last
RETURNING valves.task_type, chosen.id, chosen.rung_tier, chosen.space

-- name: set_limits
-- Declares the limits of a type. A rate that is new begins with one token. Always one row.
INSERT INTO valves AS v (task_type, rate_per_second, concurrency, tokens)
VALUES (:task_type::text, :rate_per_second::float8, :concurrency::integer, 1)
ON CONFLICT (task_type) DO UPDATE
   SET rate_per_second = excluded.rate_per_second, concurrency = excluded.concurrency,
       tokens = CASE WHEN v.rate_per_second IS NULL THEN 1 ELSE v.tokens END,
       tokens_at = CASE WHEN v.rate_per_second IS NULL THEN clock_timestamp() ELSE v.tokens_at END
RETURNING task_type

-- part: tokens
-- What a type's bucket holds by now.
least(greatest(1, v.rate_per_second),
      v.tokens + v.rate_per_second * extract(epoch FROM clock_timestamp() - v.tokens_at)::float8)

-- part: rooms
-- How many tasks of each limited type may be claimed now, and which alone, if its breaker is half-open.
SELECT v.task_type, CASE WHEN v.breaker = 'half_open' THEN v.probe_task_id END AS probe,
       greatest(0, least(2147483647, CASE WHEN v.rate_per_second IS NOT NULL THEN floor({tokens}) END,
                         v.concurrency - (SELECT count(*) FROM tasks a
                                           WHERE a.runnable AND a.state IN {active}
                                             AND qualified(a.space, a.task_type) = v.task_type))
       )::integer AS room
  FROM valves v
 WHERE v.limited AND NOT v.paused AND (v.slow_until IS NULL OR v.slow_until <= clock_timestamp())
   AND (v.breaker = 'closed' OR v.breaker = 'half_open' AND v.probe_until > clock_timestamp())

-- part: has_room
-- Of a task: nothing of its type keeps it, or limits alone do, and they have room for it now.
(NOT {held}
 OR qualified(space, task_type) IN (SELECT r.task_type FROM ({rooms}) r WHERE r.room > 0 AND r.probe IS NULL)
 OR id IN (SELECT r.probe FROM ({rooms}) r WHERE r.room > 0))

-- name: rooms
-- How many tasks of limited types may be claimed now. No row for a type: none, or it has no limits.
SELECT task_type, probe, room FROM ({rooms}) r WHERE :task_types::text[] IS NULL OR task_type = ANY(:task_types::text[])

-- name: admissible
-- The most urgent tasks that limits leave room for. No row: there are none.
SELECT t.id
  FROM ({rooms}) v, LATERAL (SELECT t.id FROM tasks t
                              WHERE {ready} AND (v.probe IS NULL OR t.id = v.probe)
                              ORDER BY t.rank, t.seq LIMIT least(v.room, :limit::integer)) t

-- name: contenders
-- Which of these tasks, and of the heads of these lanes, are kept by limits alone or by
-- more, most urgent first. One that yields is a head if there is room for it: else what
-- stands behind it is. No row: whatever keeps them, it is no limit.
SELECT c.id, c.document_id, c.task_type
  FROM (SELECT t.id, t.document_id, qualified(t.space, t.task_type) AS task_type, t.run_at, t.rank, t.seq
          FROM unnest(:task_ids::uuid[]) AS w(id), LATERAL (SELECT * FROM tasks WHERE tasks.id = w.id OFFSET 0) t
         WHERE t.document_id IS NULL AND t.runnable AND t.state IN {claimable}
        UNION ALL
        SELECT head.* FROM unnest(:document_ids::text[]) AS w(lane),
               LATERAL (SELECT id, document_id, qualified(space, task_type), run_at, rank, seq FROM tasks
                         WHERE document_id = w.lane AND runnable AND state IN {claimable}
                           AND (NOT yields OR run_at <= clock_timestamp() AND {has_room})
                         ORDER BY rank, seq LIMIT 1) head) c
 WHERE c.run_at <= clock_timestamp() AND c.task_type IN (SELECT v.task_type FROM valves v WHERE v.limited)
 ORDER BY c.rank, c.seq

-- name: lock_limits
-- Has nobody else count against the limits of these types until the transaction ends. No row: they have none.
SELECT task_type FROM valves WHERE task_type = ANY(:task_types::text[]) AND limited ORDER BY task_type FOR NO KEY UPDATE

-- name: take_tokens
-- Takes tokens out of buckets, one for each time a type is named. No row: no rate was declared.
UPDATE valves v SET tokens = {tokens} - s.taken, tokens_at = clock_timestamp()
  FROM (SELECT task_type, count(*) AS taken FROM unnest(:task_types::text[]) AS task_type GROUP BY task_type) s
 WHERE v.task_type = s.task_type AND v.rate_per_second IS NOT NULL
RETURNING v.task_type
