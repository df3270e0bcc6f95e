-- Chores: what the leader does so that nothing stays behind. Every statement is
-- bounded and guarded; two leaders at once do no harm.

-- name: anything_waits
-- Some runnable task, due or not. No row: there is nothing to ring for.
SELECT id FROM tasks WHERE runnable AND state IN {claimable} LIMIT 1

-- name: ring_times
-- When tasks at the lists' tails were last rung, and the time now. Always a row with the time.
SELECT m.now, t.id, t.rung_at FROM (SELECT clock_timestamp() AS now) m LEFT JOIN tasks t ON t.id = ANY(:task_ids::uuid[])

-- name: unrung
-- Marks as rung, and returns, runnable work that Redis does not seem to know: heads
-- of free lanes and tasks without documents, last rung before their list's cut-off
-- (one per tier of the spaces named, before them one per tier of all others; null for none), and aged work whose tier has risen. What is held
-- is not rung, nor what no worker can take: only tasks of these types, and none of agents. No row: all is rung.
WITH cutoff AS MATERIALIZED (
    SELECT max(c) AS latest FROM unnest(:cutoffs::timestamptz[]) AS c
), moment AS MATERIALIZED (
    SELECT clock_timestamp() AS now, {boost_now} AS boost
), heads AS (
    SELECT DISTINCT ON (document_id) id, document_id, space, task_type, rank, run_at, rung_at, demand_id
      FROM tasks
     WHERE runnable AND document_id IS NOT NULL AND state IN {claimable} AND {may_head}
     ORDER BY document_id, rank, seq
), quiet_lanes AS (
    SELECT h.id FROM heads h, moment
     WHERE h.run_at <= moment.now AND h.task_type = ANY(:task_types::text[]) AND h.demand_id IS NULL
       AND NOT EXISTS ({pause_of} h.document_id OFFSET 0) AND NOT {held}
       AND h.rung_at < (:cutoffs::timestamptz[])
                       [4 * coalesce(array_position(:spaces::text[], h.space), 0) + tier_of(h.rank - moment.boost) + 1]
       AND NOT EXISTS ({occupant_of} h.document_id)
     ORDER BY h.rank LIMIT :limit::integer
), quiet AS (
    SELECT t.id FROM tasks t, moment, cutoff
     WHERE t.runnable AND t.document_id IS NULL AND t.state IN {claimable} AND t.run_at <= moment.now
       AND t.rung_at < cutoff.latest AND t.task_type = ANY(:task_types::text[]) AND t.demand_id IS NULL AND NOT {held}
       AND t.rung_at < (:cutoffs::timestamptz[])
                       [4 * coalesce(array_position(:spaces::text[], t.space), 0) + tier_of(t.rank - moment.boost) + 1]
     ORDER BY t.rung_at LIMIT :limit::integer
), aged AS (
    SELECT a.id
      FROM moment, (VALUES (1, 10), (2, 30), (3, 60)) AS f(tier, floor),
           LATERAL (SELECT id FROM tasks
                     WHERE rung_tier = f.tier AND runnable AND state IN {claimable}
                       AND tasks.rank < f.floor + moment.boost AND tasks.task_type = ANY(:task_types::text[])
                       AND demand_id IS NULL AND NOT {held} AND (document_id IS NULL OR NOT EXISTS ({pause_of} tasks.document_id OFFSET 0))
                     ORDER BY tasks.rank LIMIT :limit::integer) a
), chosen AS (
    SELECT id FROM quiet_lanes UNION SELECT id FROM quiet UNION SELECT id FROM aged
), locked AS MATERIALIZED (
    SELECT l.tid FROM chosen,
           LATERAL (SELECT ctid AS tid, state FROM tasks WHERE tasks.id = chosen.id FOR NO KEY UPDATE SKIP LOCKED) l
     WHERE l.state IN {claimable}
), rung AS (
    UPDATE tasks SET rung_at = moment.now, rung_tier = tier_of(rank - moment.boost)
      FROM moment WHERE ctid = ANY(ARRAY(SELECT tid FROM locked))
    RETURNING id, rung_tier, space, rank, seq
)
SELECT id, rung_tier, space FROM rung ORDER BY rank, seq

-- name: waiting_lanes
-- Lanes with a runnable head and nobody in them. No row: every lane is worked on, held or empty.
SELECT h.document_id, h.id AS head
  FROM (SELECT DISTINCT ON (document_id) document_id, id, task_type, space, run_at FROM tasks
         WHERE runnable AND document_id IS NOT NULL AND state IN {claimable} AND {may_head}
         ORDER BY document_id, rank, seq) h
 WHERE h.run_at <= clock_timestamp() AND NOT EXISTS ({pause_of} h.document_id OFFSET 0) AND NOT {held}
   AND NOT EXISTS ({occupant_of} h.document_id)
 LIMIT :limit::integer

-- name: promote
-- Makes PENDING tasks whose time has come QUEUED. No row: none is due.
WITH due AS MATERIALIZED (
    SELECT id FROM tasks WHERE state = 'PENDING' AND blockers = 0 AND run_at <= clock_timestamp()
     ORDER BY run_at LIMIT :limit::integer FOR NO KEY UPDATE SKIP LOCKED
), promoted AS (
    UPDATE tasks SET state = 'QUEUED', queued_at = clock_timestamp(), rung_at = clock_timestamp(),
           rung_tier = tier_of(rank - {boost_now})
      FROM due WHERE tasks.id = due.id AND tasks.state = 'PENDING' AND tasks.blockers = 0
    RETURNING tasks.id, tasks.document_id, tasks.space, tasks.runnable, tasks.rung_tier, tasks.demand_id
), happened AS (
    SELECT 1 AS turn, 'task.queued' AS kind, id, document_id, space FROM promoted
), told AS (
    {told}
)
SELECT id, runnable AND demand_id IS NULL AS is_rung, rung_tier, space FROM promoted

-- name: due_retries
-- Marks as rung retries that have become due, and tells which are to be rung, for agents' are not. No row: none is due.
WITH due AS MATERIALIZED (
    SELECT id FROM tasks WHERE state = 'RETRYING' AND run_at <= clock_timestamp() AND rung_at < run_at
     ORDER BY run_at LIMIT :limit::integer FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE tasks SET rung_at = clock_timestamp(),
       rung_tier = tier_of(rank - {boost_now})
  FROM due WHERE tasks.id = due.id AND tasks.state = 'RETRYING'
RETURNING tasks.id, tasks.rung_tier, tasks.space, tasks.demand_id IS NULL AS is_rung

-- name: next_due
-- Seconds until the next task becomes due. Null: nothing is scheduled.
SELECT extract(epoch FROM min(run_at) - clock_timestamp())::float8 AS seconds FROM tasks
 WHERE (state = 'PENDING' AND blockers = 0) OR (state = 'RETRYING' AND rung_at < run_at)

-- name: prune
-- Removes whole trees that ended long ago from a window of the oldest tasks, and what
-- was decided to go, and tells where the window ends. A tree with an unresolved dead
-- letter stays, and so does one that others wait for or may wait for again, and what an
-- unfinished task has spawned. What belongs to a DAG goes when the DAG ended long ago.
-- Null: there is nothing after the position.
WITH RECURSIVE window_ AS MATERIALIZED (
    SELECT id, seq, state, parent_id, finished_at, created_at, dag_id, spawned_by FROM tasks
     WHERE seq > :after_seq::bigint
       AND created_at < clock_timestamp()
                        - make_interval(secs => least(:completed_seconds::float8, :failed_seconds::float8))
     ORDER BY seq LIMIT :limit::integer
), old AS (
    SELECT id FROM window_ w
     WHERE parent_id IS NULL
       AND (state IN ('COMPLETED', 'CANCELLED')
            AND finished_at < clock_timestamp() - make_interval(secs => :completed_seconds::float8)
            OR state IN ('FAILED', 'TIMEOUT')
            AND finished_at < clock_timestamp() - make_interval(secs => :failed_seconds::float8))
       AND NOT EXISTS (SELECT FROM idempotency_keys k WHERE k.task_id = w.id)
       AND NOT EXISTS (
           SELECT FROM dags g
            WHERE g.id = w.dag_id
              AND (g.status = 'running' OR g.is_stuck OR g.finished_at > clock_timestamp()
                   - make_interval(secs => CASE g.status WHEN 'failed' THEN :failed_seconds::float8
                                                         ELSE :completed_seconds::float8 END)))
       AND NOT EXISTS (SELECT FROM tasks p WHERE p.id = w.spawned_by AND p.state IN {unfinished})
    UNION
    (SELECT t.id FROM dead_letters d,
            LATERAL (SELECT id, parent_id, dag_id, generation, state FROM tasks WHERE id = d.task_id OFFSET 0) t
      WHERE d.discarded AND t.generation = d.generation AND t.state IN {gave_up}
        -- Of a batch or a DAG nothing goes alone.
        AND t.parent_id IS NULL AND t.dag_id IS NULL
        AND NOT EXISTS (SELECT FROM idempotency_keys k WHERE k.task_id = t.id)
      LIMIT :limit::integer)
), tree AS (
    SELECT id, id AS root FROM old
    UNION ALL
    SELECT t.id, tree.root FROM tree, LATERAL (SELECT id FROM tasks WHERE parent_id = tree.id OFFSET 0) t
), kept AS (
    SELECT tree.root FROM tree,
           LATERAL (SELECT FROM dead_letters l WHERE l.task_id = tree.id AND l.resolved_at IS NULL OFFSET 0) unresolved
    UNION ALL
    SELECT tree.root
      FROM tree, LATERAL (SELECT task_id FROM task_edges WHERE depends_on = tree.id OFFSET 0) e,
           LATERAL (SELECT state FROM tasks WHERE id = e.task_id) d
     WHERE d.state NOT IN ('COMPLETED', 'CANCELLED')
), going AS MATERIALIZED (
    SELECT id FROM tree WHERE root NOT IN (SELECT root FROM kept)
), edges AS (
    DELETE FROM task_edges WHERE task_id = ANY(ARRAY(SELECT id FROM going))
), removed AS (
    DELETE FROM tasks WHERE id = ANY(ARRAY(SELECT id FROM going)) RETURNING id
), forgotten AS (
    DELETE FROM spawns WHERE spawned_by = ANY(ARRAY(SELECT id FROM going))
), gone AS (
    UPDATE dead_letters SET discarded = false WHERE discarded AND task_id IN (SELECT id FROM removed)
)
SELECT (SELECT max(seq) FROM window_) AS until, (SELECT count(*) FROM removed) AS removed

-- name: expire_keys
-- Forgets idempotency keys whose task ended long enough ago. No row: none has expired.
DELETE FROM idempotency_keys k USING tasks t
 WHERE t.id = k.task_id AND k.created_at < clock_timestamp() - make_interval(secs => :after_seconds::float8)
   AND t.state IN {final} AND t.finished_at < clock_timestamp() - make_interval(secs => :after_seconds::float8)
RETURNING k.key

-- name: prune_callers
-- Removes what tells of callers and is old enough: sessions and links that ended so long ago, and what was
-- done longer ago. Tells how much of the last. Always one row. It is one statement because it seldom finds anything.
WITH ended AS (
    DELETE FROM sessions
     WHERE digest IN (SELECT digest FROM sessions
                       WHERE least(ended_at, seen_at + make_interval(secs => :idle_seconds::float8),
                                   created_at + make_interval(secs => :longest_seconds::float8))
                             < clock_timestamp() - make_interval(secs => :login_seconds::float8)
                       LIMIT :limit::integer)
), links AS (
    DELETE FROM login_links
     WHERE digest IN (SELECT digest FROM login_links
                       WHERE expires_at < clock_timestamp() - make_interval(secs => :login_seconds::float8)
                       LIMIT :limit::integer)
)
SELECT prune_audit(:audit_seconds::float8, :limit::integer) AS deeds
