-- Patches: what is changed of tasks while they wait.

-- name: apply
-- Changes waiting tasks of a locked tree: their words, their place, their time. One that is
-- to run later goes back to PENDING, one whose time has come is QUEUED. The place is left
-- alone where nothing of it changed: computed anew it could differ in its last digit, and
-- of two that were inserted together the second would be first. No row: there is nothing to ring.
WITH moment AS MATERIALIZED (
    SELECT clock_timestamp() AS now, {boost_now} AS boost
), given AS (
    SELECT g.id, g.title, ARRAY(SELECT jsonb_array_elements_text(g.tags::jsonb)) AS tags, g.priority, g.deadline,
           g.run_at, t.state AS was, t.runnable, t.demand_id, t.rung_tier AS tier_before, g.run_at <> t.run_at AS is_moved,
           CASE WHEN t.state = 'RETRYING' OR t.blockers > 0 THEN t.state
                WHEN g.run_at > moment.now THEN 'PENDING' ELSE 'QUEUED' END AS state,
           CASE WHEN g.priority = t.priority AND g.deadline IS NOT DISTINCT FROM t.deadline THEN t.rank
                ELSE least(t.inherited_rank, rank_at(moment.now, {boost_per_minute}, g.priority, t.path_boost,
                                                     t.boost_per_minute, g.deadline, t.created_at)) END AS rank
      FROM moment,
           unnest(:task_ids::uuid[], :titles::text[], :tags::text[], :priorities::smallint[],
                  :deadlines::timestamptz[], :run_ats::timestamptz[])
               AS g(id, title, tags, priority, deadline, run_at),
           LATERAL (SELECT * FROM tasks WHERE tasks.id = g.id OFFSET 0) t
), placed AS (
    SELECT given.*, tier_of(rank - boost) AS tier,
           {may_ring} AND run_at <= now
               AND (is_moved OR state <> was OR tier_of(rank - boost) <> tier_before) AS is_to_ring
      FROM given, moment
), changed AS (
    UPDATE tasks SET title = p.title, tags = p.tags, priority = p.priority, deadline = p.deadline, run_at = p.run_at,
           rank = p.rank, state = p.state,
           lifts = lifts OR blockers > 0 AND p.rank < tasks.rank,
           queued_at = CASE WHEN p.state = p.was THEN queued_at WHEN p.state = 'QUEUED' THEN moment.now END,
           rung_at = CASE WHEN p.is_to_ring THEN moment.now ELSE rung_at END,
           rung_tier = CASE WHEN p.is_to_ring THEN p.tier ELSE rung_tier END
      FROM moment, placed p WHERE tasks.id = p.id AND tasks.state = p.was AND tasks.state IN {waiting}
    RETURNING tasks.id, tasks.document_id, tasks.space, p.is_to_ring, p.tier, p.tier_before,
              CASE WHEN p.state = p.was THEN 'task.updated' ELSE 'task.' || lower(p.state) END AS kind
), happened AS (
    SELECT 1 AS turn, kind, id, document_id, space FROM changed
), told AS (
    {told}
)
SELECT id, tier, tier_before, space FROM changed WHERE is_to_ring
