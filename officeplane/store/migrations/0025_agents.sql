-- Agents: programs of others, which claim over HTTP what their kind does.

-- What a task asks of whoever does it, interned: an agent resolves once to the demands that it meets, and a claim
-- looks for their numbers, not through arrays of every waiting task. Rows are added and never changed.
CREATE TABLE demands (
    id              integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    -- Of the space and all that follows it: arrays may be longer than an index takes.
    digest          bytea NOT NULL UNIQUE,
    space           text NOT NULL,
    task_type       text NOT NULL,
    capabilities    text[] NOT NULL,
    models          text[] NOT NULL,
    fallback_models text[] NOT NULL
);
CREATE INDEX demands_of_type ON demands (space, task_type);

-- A task with a demand is done by agents, all others by workers. What it asks beside that is in its terms.
ALTER TABLE tasks
    ADD COLUMN demand_id integer,
    ADD COLUMN agent_terms jsonb,
    ADD CONSTRAINT tasks_terms_are_of_agents CHECK (agent_terms IS NULL OR demand_id IS NOT NULL);

CREATE INDEX tasks_demanded ON tasks (demand_id, rank, seq)
    WHERE runnable AND demand_id IS NOT NULL AND state IN ('QUEUED', 'RETRYING');
-- A deep lane may fill the beginning of it: what has no document is found beside it, lanes one after the other, and so
-- is what waits for its back-off.
CREATE INDEX tasks_demanded_free ON tasks (demand_id, rank, seq)
    WHERE runnable AND demand_id IS NOT NULL AND document_id IS NULL AND state = 'QUEUED';
CREATE INDEX tasks_demanded_again ON tasks (demand_id, run_at)
    WHERE runnable AND demand_id IS NOT NULL AND state = 'RETRYING';
CREATE INDEX tasks_demanded_lanes ON tasks (demand_id, document_id, rank, seq)
    WHERE runnable AND demand_id IS NOT NULL AND document_id IS NOT NULL AND state IN ('QUEUED', 'RETRYING');

CREATE TABLE agents (
    id                   text PRIMARY KEY,
    space                text NOT NULL,
    kind                 text,
    title                text,
    capabilities         text[] NOT NULL,
    task_types           text[] NOT NULL,
    models               text[] NOT NULL,
    max_concurrent_tasks smallint NOT NULL,
    version              text,
    heartbeat_seconds    double precision NOT NULL,
    start_seconds        double precision NOT NULL,
    status               text NOT NULL DEFAULT 'active',
    -- By whom, if it is not active: a person's pause outlasts a registration.
    held_by              text,
    lapses_in_row        smallint NOT NULL DEFAULT 0,
    registered_by        text NOT NULL,
    registered_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    last_seen_at         timestamptz NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT agents_status_is_known CHECK (status IN ('active', 'paused', 'draining')),
    CONSTRAINT agents_held_by_is_known CHECK (held_by IN ('agent', 'person', 'system')),
    CONSTRAINT agents_named_by_their_space CHECK (
        CASE WHEN space = 'default' THEN strpos(id, '/') = 0 ELSE starts_with(id, space || '/') END)
);
CREATE INDEX agents_of_space ON agents (space, id);

ALTER TABLE spaces ADD COLUMN max_agents bigint DEFAULT 1000;
UPDATE spaces SET max_agents = NULL WHERE name = 'default';

-- A claim of an agent. It outlives its attempt: what was spent is booked here, and what was answered is said again.
CREATE TABLE agent_claims (
    claim_id        uuid PRIMARY KEY,
    task_id         uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
    generation      integer NOT NULL,
    attempt         integer NOT NULL,
    agent_id        text NOT NULL,
    space           text NOT NULL,
    model           text,
    claimed_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
    beaten_at       timestamptz,
    ended_at        timestamptz,
    -- The state to which its task went with its end.
    ended_as        text,
    -- Whether its lease had run out when it was completed.
    late            boolean NOT NULL DEFAULT false,
    -- The verb with which its holder ended it, and what that was answered.
    verb            text,
    answer          jsonb,
    decision_report jsonb,
    -- What came after its end and could not count any more.
    late_result     jsonb,
    cost_micros     bigint,
    tokens          jsonb,

    CONSTRAINT agent_claims_end_somewhere CHECK ((ended_at IS NULL) = (ended_as IS NULL)),
    CONSTRAINT agent_claims_answer_a_verb CHECK ((verb IS NULL) = (answer IS NULL)),
    CONSTRAINT agent_claims_cost_something CHECK (cost_micros >= 0)
);
CREATE UNIQUE INDEX agent_claims_open ON agent_claims (task_id) WHERE ended_at IS NULL;
CREATE INDEX agent_claims_held ON agent_claims (agent_id) WHERE ended_at IS NULL;
CREATE INDEX agent_claims_of_task ON agent_claims (task_id, attempt);
CREATE INDEX agent_claims_of_agent ON agent_claims (agent_id, claimed_at);
-- Results that came too late are forgotten sooner than the claims that they came for.
CREATE INDEX agent_claims_late ON agent_claims (ended_at) WHERE late_result IS NOT NULL;

-- Whoever ends an attempt (its holder, the reaper, a person who cancels) ends the claim with it.
CREATE FUNCTION end_agent_claim() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE agent_claims SET ended_at = clock_timestamp(), ended_as = NEW.state
     WHERE claim_id = OLD.claim_id AND ended_at IS NULL;
    RETURN NULL;
END $$;
CREATE TRIGGER tasks_end_their_claims AFTER UPDATE OF state ON tasks FOR EACH ROW
    WHEN (OLD.demand_id IS NOT NULL AND OLD.state IN ('CLAIMED', 'RUNNING', 'VALIDATING')
          AND NEW.state NOT IN ('CLAIMED', 'RUNNING', 'VALIDATING'))
    EXECUTE FUNCTION end_agent_claim();

-- A request to claim under a key: what it got is given again while it is open.
CREATE TABLE agent_claim_keys (
    agent_id   text NOT NULL,
    key        text NOT NULL,
    claim_ids  uuid[] NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (agent_id, key)
);
CREATE INDEX agent_claim_keys_by_age ON agent_claim_keys (created_at);

-- Tasks that an agent did not want, and is not offered for a while.
CREATE TABLE agent_declines (
    task_id     uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
    agent_id    text NOT NULL,
    declined_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    -- How often it did not want it: five refusals of a task are told, whoever they come from.
    times       integer NOT NULL DEFAULT 1,
    PRIMARY KEY (task_id, agent_id)
);
CREATE INDEX agent_declines_by_agent ON agent_declines (agent_id, declined_at);
