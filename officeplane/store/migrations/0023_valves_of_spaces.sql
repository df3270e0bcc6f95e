-- Valves and counters are of a type in a space: their `task_type` is `space/type`, or `type` in the default space.

-- What a name of a space is inside, as `qualified` in Python has it.
CREATE FUNCTION qualified(space text, name text) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN space = 'default' THEN name ELSE space || '/' || name END;

-- There may be as many valves as spaces times types. Those that claim read the few that hold something.
CREATE INDEX valves_that_hold ON valves (task_type)
    WHERE paused OR breaker <> 'closed' OR limited OR slow_until IS NOT NULL;
