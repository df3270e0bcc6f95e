-- Urgency: priorities that change while a task waits, and work that must not wait twice.

-- What a deadline takes off a priority; doubles every half hour until it is reached.
CREATE FUNCTION deadline_urgency(remaining_seconds double precision) RETURNS double precision
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN remaining_seconds IS NULL THEN 0
                ELSE 100 * power(2, -least(greatest(remaining_seconds, 0), 86400) / 1800) END;

-- The place in its lane that a task has by itself: how urgent it is at that moment, and
-- what all have aged by then at the installation's boost.
CREATE FUNCTION rank_at(now timestamptz, installation_boost double precision, priority double precision,
                        path_boost double precision, own_boost double precision, deadline timestamptz,
                        created_at timestamptz) RETURNS double precision
    LANGUAGE sql STABLE PARALLEL SAFE
    RETURN priority - path_boost - deadline_urgency(extract(epoch FROM deadline - now)::double precision)
           - coalesce(own_boost, installation_boost) * extract(epoch FROM now - created_at)::double precision / 60
           + installation_boost * extract(epoch FROM now)::double precision / 60;

ALTER TABLE tasks
    -- Whether it waits behind work that is less urgent than it is itself.
    ADD COLUMN lifts boolean NOT NULL DEFAULT false,
    -- The rank of the most urgent task that waits for this one, where that comes before its own.
    ADD COLUMN inherited_rank double precision;

-- What has to be ranked anew while it waits; nearly always empty.
CREATE INDEX tasks_ranked_anew ON tasks (seq)
    WHERE (deadline IS NOT NULL OR boost_per_minute IS NOT NULL OR lifts OR inherited_rank IS NOT NULL)
      AND state IN ('PENDING', 'QUEUED', 'RETRYING');

-- No two unfinished tasks that asked for it do the same.
CREATE UNIQUE INDEX tasks_content ON tasks (content_hash)
    WHERE content_hash IS NOT NULL
      AND state IN ('PENDING', 'QUEUED', 'RETRYING', 'CLAIMED', 'RUNNING', 'VALIDATING');
