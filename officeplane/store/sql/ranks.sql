-- Ranks: the places in their lanes of tasks whose urgency changes while they wait.

-- name: rank_anew
-- Gives tasks with a deadline or an ageing of their own the place that is theirs by now,
-- those that have moved furthest first; what has risen to a more urgent tier counts as
-- rung. The rank is made of what was locked, not of what was seen before. No row: none
-- has moved that far.
WITH moment AS MATERIALIZED (
    SELECT clock_timestamp() AS now, $1::float8 * extract(epoch FROM clock_timestamp()) / 60 AS boost
), moved AS MATERIALIZED (
    SELECT t.id
      FROM moment, tasks t,
           LATERAL (SELECT least(t.inherited_rank, rank_at(moment.now, $1::float8, t.priority, t.path_boost,
                                                           t.boost_per_minute, t.deadline, t.created_at)) AS rank) due
     WHERE (t.deadline IS NOT NULL OR t.boost_per_minute IS NOT NULL OR t.lifts OR t.inherited_rank IS NOT NULL)
       AND t.state IN {waiting} AND abs(due.rank - t.rank) >= $2::float8
     ORDER BY abs(due.rank - t.rank) DESC LIMIT $3::integer
), locked AS MATERIALIZED (
    SELECT l.tid, l.rank,
           l.is_ready AND tier_of(l.rank - moment.boost) < l.rung_tier AS rises, tier_of(l.rank - moment.boost) AS tier
      FROM moment, moved,
           LATERAL (SELECT ctid AS tid, state, rung_tier,
                           runnable AND state IN {claimable} AND run_at <= moment.now AS is_ready,
                           least(inherited_rank, rank_at(moment.now, $1::float8, priority, path_boost, boost_per_minute,
                                                         deadline, created_at)) AS rank
                      FROM tasks WHERE tasks.id = moved.id FOR NO KEY UPDATE SKIP LOCKED) l
     WHERE l.state IN {waiting}
), ranked AS (
    UPDATE tasks SET rank = locked.rank,
           rung_tier = CASE WHEN locked.rises THEN locked.tier ELSE tasks.rung_tier END,
           rung_at = CASE WHEN locked.rises THEN moment.now ELSE tasks.rung_at END
      FROM moment, locked WHERE tasks.ctid = locked.tid
    RETURNING tasks.id, tasks.rung_tier, locked.rises
)
SELECT id, rung_tier, rises FROM ranked
