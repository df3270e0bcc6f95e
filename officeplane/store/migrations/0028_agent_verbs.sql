-- What is said of an agent's claim after its end, and how often a task was declined.

-- How often this agent did not want it: five refusals of a task are told, whoever they come from.
ALTER TABLE agent_declines ADD COLUMN times integer NOT NULL DEFAULT 1;

-- Results that came too late are forgotten sooner than the claims that they came for.
CREATE INDEX agent_claims_late ON agent_claims (ended_at) WHERE late_result IS NOT NULL;
