-- Offers: what an agent may be given is found by few looks, however much stands before it.

-- A deep lane may fill the beginning of `tasks_demanded`: what has no document is found beside it.
CREATE INDEX tasks_demanded_free ON tasks (demand_id, rank, seq)
    WHERE runnable AND demand_id IS NOT NULL AND document_id IS NULL AND state = 'QUEUED';
-- So may what waits for its back-off: whose time has come is found by that.
CREATE INDEX tasks_demanded_again ON tasks (demand_id, run_at)
    WHERE runnable AND demand_id IS NOT NULL AND state = 'RETRYING';

CREATE INDEX agent_declines_by_agent ON agent_declines (agent_id, declined_at);

ALTER TABLE spaces ADD COLUMN max_agents bigint DEFAULT 1000;
UPDATE spaces SET max_agents = NULL WHERE name = 'default';
