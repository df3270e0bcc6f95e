-- Ranks: the places in their lanes of tasks whose urgency changes while they wait.

-- part: boost_now
-- What a rank has more, by now, than the priority that a task of that rank is of.
{boost_per_minute} * extract(epoch FROM clock_timestamp()) / 60

-- part: own_rank
rank_at(moment.now, {boost_per_minute}, priority, path_boost, boost_per_minute, deadline, created_at)

-- part: may_ring
-- Workers may take it; for what agents do nobody rings.
runnable AND demand_id IS NULL AND state IN {claimable}

-- part: is_ranked_anew
(deadline IS NOT NULL OR boost_per_minute IS NOT NULL OR lifts OR inherited_rank IS NOT NULL) AND state IN {waiting}

-- name: moved
-- Tasks with a deadline or an ageing of their own that are no longer where they belong, those
-- that have moved furthest first. No row: none has moved that far.
WITH moment AS MATERIALIZED (
    SELECT clock_timestamp() AS now
)
SELECT id
  FROM moment, tasks, LATERAL (SELECT abs(least(inherited_rank, {own_rank}) - rank) AS distance OFFSET 0) due
 WHERE {is_ranked_anew} AND distance >= :at_least::float8
 ORDER BY distance DESC LIMIT :limit::integer

-- name: rank_anew
-- Gives tasks the place that is theirs by now; what has risen to a more urgent tier counts as
-- rung. The rank is made of what was locked, not of what was seen before. No row: none of
-- them waits any more, or others have them in hand.
WITH moment AS MATERIALIZED (
    SELECT clock_timestamp() AS now, {boost_now} AS boost
), locked AS MATERIALIZED (
    SELECT l.tid, l.rank,
           l.is_ready AND tier_of(l.rank - moment.boost) < l.rung_tier AS rises, tier_of(l.rank - moment.boost) AS tier
      FROM moment, unnest(:task_ids::uuid[]) AS moved(id),
           LATERAL (SELECT ctid AS tid, state, rung_tier,
                           {may_ring} AND run_at <= moment.now AS is_ready,
                           least(inherited_rank, {own_rank}) AS rank
                      FROM tasks WHERE tasks.id = moved.id FOR NO KEY UPDATE SKIP LOCKED) l
     WHERE l.state IN {waiting}
), ranked AS (
    UPDATE tasks SET rank = locked.rank,
           rung_tier = CASE WHEN locked.rises THEN locked.tier ELSE tasks.rung_tier END,
           rung_at = CASE WHEN locked.rises THEN moment.now ELSE tasks.rung_at END
      FROM moment, locked WHERE tasks.ctid = locked.tid
    RETURNING tasks.id, tasks.rung_tier, tasks.space, locked.rises
)
SELECT id, rung_tier, space, rises FROM ranked

-- name: urgencies
-- What makes tasks urgent. No row: no such task.
SELECT id, priority, deadline, boost_per_minute FROM tasks WHERE id = ANY(:task_ids::uuid[])

-- name: behind_less_urgent
-- Tasks that wait behind less urgent work, the most urgent first, with the ranks that are
-- theirs without what they may have inherited themselves. No row: none does.
WITH moment AS MATERIALIZED (
    SELECT clock_timestamp() AS now
)
SELECT id, {own_rank} AS rank FROM moment, tasks
 WHERE {is_ranked_anew} AND lifts AND blockers > 0 ORDER BY rank, seq LIMIT :limit::integer

-- name: ahead
-- What has to end before tasks can begin, a step of the way: what they depend on; of those
-- that have to end as a whole, what is below them; of the others, their earlier siblings and
-- what their batch waits for. No row: nothing is left ahead of them.
SELECT asked.id AS behind, asked.is_whole AS was_whole, next.id, next.is_whole
  FROM unnest(:task_ids::uuid[], :are_whole::boolean[]) AS asked(id, is_whole),
       LATERAL (SELECT id, parent_id, position FROM tasks WHERE tasks.id = asked.id OFFSET 0) t,
       LATERAL (SELECT d.id, way.is_whole
                  FROM task_edges e,
                       LATERAL (SELECT id, state, parent_id FROM tasks WHERE tasks.id = e.depends_on OFFSET 0) d,
                       (VALUES (true), (false)) AS way(is_whole)
                 WHERE e.task_id = t.id AND d.state IN {unfinished} AND (way.is_whole OR d.parent_id IS NOT NULL)
                UNION ALL
                SELECT id, true FROM tasks WHERE asked.is_whole AND parent_id = t.id AND state IN {unfinished}
                UNION ALL
                SELECT id, true FROM tasks
                 WHERE NOT asked.is_whole AND parent_id = t.parent_id AND position < t.position AND state IN {unfinished}
                UNION ALL
                SELECT t.parent_id, false WHERE NOT asked.is_whole AND t.parent_id IS NOT NULL) next

-- part: inherited
CASE WHEN wanted.rank < t.own_rank - :at_least::float8 THEN wanted.rank END

-- name: inherit
-- Gives tasks the ranks of the most urgent that wait for them, where these come before
-- their own, and gives what inherited one, and is not to keep it, its own place again. Only what
-- has to move is locked. No row: all are where they belong.
WITH moment AS MATERIALIZED (
    SELECT clock_timestamp() AS now, {boost_now} AS boost
), wanted AS MATERIALIZED (
    SELECT id, rank FROM unnest(:task_ids::uuid[], :ranks::float8[]) AS w(id, rank)
    UNION ALL
    (SELECT id, NULL FROM tasks
      WHERE {is_ranked_anew} AND inherited_rank IS NOT NULL
        AND NOT EXISTS (SELECT FROM unnest(:keeping::uuid[]) AS kept(id) WHERE kept.id = tasks.id)
      LIMIT :limit::integer)
), moved AS MATERIALIZED (
    SELECT wanted.*
      FROM moment, wanted,
           LATERAL (SELECT state, inherited_rank, {own_rank} AS own_rank FROM tasks WHERE tasks.id = wanted.id OFFSET 0) t
     WHERE t.state IN {waiting}
       AND ((({inherited}) IS NULL) <> (t.inherited_rank IS NULL)
            OR abs(({inherited}) - t.inherited_rank) >= :at_least::float8)
), locked AS MATERIALIZED (
    SELECT t.*, {inherited} AS inherited
      FROM moment, moved AS wanted,
           LATERAL (SELECT ctid AS tid, state, rung_tier, {own_rank} AS own_rank,
                           {may_ring} AND run_at <= moment.now AS is_ready
                      FROM tasks WHERE tasks.id = wanted.id FOR NO KEY UPDATE SKIP LOCKED) t
     WHERE t.state IN {waiting}
), placed AS (
    SELECT locked.tid, inherited, least(inherited, own_rank) AS rank, tier_of(least(inherited, own_rank) - boost) AS tier,
           is_ready AND tier_of(least(inherited, own_rank) - boost) < rung_tier AS rises
      FROM locked, moment
), ranked AS (
    UPDATE tasks SET inherited_rank = placed.inherited, rank = placed.rank,
           rung_tier = CASE WHEN placed.rises THEN placed.tier ELSE tasks.rung_tier END,
           rung_at = CASE WHEN placed.rises THEN moment.now ELSE tasks.rung_at END
      FROM moment, placed WHERE tasks.ctid = placed.tid
    RETURNING tasks.id, tasks.rung_tier, tasks.space, placed.rises
)
SELECT id, rung_tier, space, rises FROM ranked
