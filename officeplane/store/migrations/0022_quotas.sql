-- What waits in spaces other than the default one: polled by space, and counted where a quota is set.
-- An installation that has no others keeps nothing in it.
CREATE INDEX tasks_of_other_spaces ON tasks (space, rank, seq)
    WHERE space <> 'default' AND runnable AND state IN ('QUEUED', 'RETRYING');
