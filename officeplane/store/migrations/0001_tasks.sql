-- Tasks: state, payload, place in the lane, and the guards that no bug may pass.

CREATE SEQUENCE task_seq AS bigint CACHE 1;

-- The list a priority rings; ageing may have taken it below 0.
CREATE FUNCTION tier_of(priority double precision) RETURNS smallint
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN priority < 10 THEN 0 WHEN priority < 30 THEN 1 WHEN priority < 60 THEN 2 ELSE 3 END::smallint;

CREATE TABLE tasks (
    id                  uuid PRIMARY KEY,
    seq                 bigint NOT NULL DEFAULT nextval('task_seq'),
    task_type           text NOT NULL,
    document_id         text,
    title               text,
    payload             jsonb NOT NULL,
    state               text NOT NULL,
    priority            smallint NOT NULL,
    rank                double precision NOT NULL,
    runnable            boolean NOT NULL,
    yields              boolean NOT NULL,
    blockers            integer NOT NULL,
    run_at              timestamptz NOT NULL,
    max_retries         smallint NOT NULL,
    timeout_seconds     double precision NOT NULL,
    retry_policy        jsonb,
    generation          integer NOT NULL DEFAULT 1,
    attempt             integer NOT NULL DEFAULT 0,
    attempts_charged    integer NOT NULL DEFAULT 0,
    crashes             smallint NOT NULL DEFAULT 0,
    suspect             boolean NOT NULL DEFAULT false,
    poison_pill         boolean NOT NULL DEFAULT false,
    claim_id            uuid,
    hold_id             uuid,
    worker_id           text,
    lease_until         timestamptz,
    handler_seen        boolean NOT NULL DEFAULT false,
    cancel_requested_at timestamptz,
    cancel_reason       text,
    progress            jsonb,
    checkpoint          jsonb,
    result              jsonb,
    error               jsonb,
    parent_id           uuid,
    ancestors           uuid[] NOT NULL DEFAULT '{}',
    position            integer,
    key                 text,
    on_child_failure    text,
    tags                text[] NOT NULL DEFAULT '{}',
    created_by          text,
    created_at          timestamptz NOT NULL,
    queued_at           timestamptz,
    rung_at             timestamptz NOT NULL,
    rung_tier           smallint NOT NULL,
    started_at          timestamptz,
    finished_at         timestamptz,

    CONSTRAINT tasks_state_is_known CHECK (state IN
        ('PENDING', 'QUEUED', 'CLAIMED', 'RUNNING', 'VALIDATING', 'RETRYING', 'COMPLETED', 'FAILED', 'TIMEOUT', 'CANCELLED')),
    CONSTRAINT tasks_priority_is_in_range CHECK (priority BETWEEN 0 AND 100),
    CONSTRAINT tasks_held_under_a_lease CHECK
        ((runnable AND state IN ('CLAIMED', 'RUNNING', 'VALIDATING')) = (lease_until IS NOT NULL)),
    CONSTRAINT tasks_leased_to_someone CHECK
        (lease_until IS NULL OR (claim_id IS NOT NULL AND worker_id IS NOT NULL)),
    CONSTRAINT tasks_final_has_an_end CHECK
        ((state IN ('COMPLETED', 'FAILED', 'TIMEOUT', 'CANCELLED')) = (finished_at IS NOT NULL)),
    CONSTRAINT tasks_completed_was_not_cancelled CHECK (state <> 'COMPLETED' OR cancel_requested_at IS NULL),
    CONSTRAINT tasks_failure_has_a_reason CHECK (state NOT IN ('FAILED', 'TIMEOUT') OR error IS NOT NULL),
    CONSTRAINT tasks_blocked_waits CHECK (blockers = 0 OR state IN ('PENDING', 'CANCELLED')),
    CONSTRAINT tasks_charge_is_bounded CHECK (attempts_charged BETWEEN 0 AND attempt),
    CONSTRAINT tasks_parent_is_whole CHECK ((parent_id IS NULL) = (position IS NULL) AND (on_child_failure IS NULL OR NOT runnable))
) WITH (
    fillfactor = 70,
    autovacuum_vacuum_scale_factor = 0.02,
    autovacuum_vacuum_threshold = 2000,
    autovacuum_analyze_scale_factor = 0.05,
    autovacuum_vacuum_cost_delay = 1
);

ALTER SEQUENCE task_seq OWNED BY tasks.seq;

CREATE UNIQUE INDEX tasks_seq ON tasks (seq);
CREATE INDEX tasks_of_document ON tasks (document_id, seq) WHERE document_id IS NOT NULL;
CREATE INDEX tasks_of_parent ON tasks (parent_id, position) WHERE parent_id IS NOT NULL;
CREATE INDEX tasks_with_tags ON tasks USING gin (tags) WHERE tags <> '{}';
CREATE INDEX tasks_gave_up ON tasks (seq) WHERE state IN ('FAILED', 'TIMEOUT', 'CANCELLED');

-- One occupant per document: the second wall behind locks and claims.
CREATE UNIQUE INDEX tasks_occupant ON tasks (document_id)
    WHERE runnable AND document_id IS NOT NULL AND state IN ('CLAIMED', 'RUNNING', 'VALIDATING');
CREATE INDEX tasks_active ON tasks (worker_id)
    WHERE runnable AND state IN ('CLAIMED', 'RUNNING', 'VALIDATING');

CREATE INDEX tasks_lane ON tasks (document_id, rank, seq)
    WHERE runnable AND document_id IS NOT NULL AND state IN ('QUEUED', 'RETRYING');
CREATE INDEX tasks_by_urgency ON tasks (rung_tier, rank, seq)
    WHERE runnable AND state IN ('QUEUED', 'RETRYING');
CREATE INDEX tasks_by_ring ON tasks (rung_at)
    WHERE runnable AND document_id IS NULL AND state IN ('QUEUED', 'RETRYING');
CREATE INDEX tasks_due ON tasks (run_at)
    WHERE (state = 'PENDING' AND blockers = 0) OR state = 'RETRYING';

-- A final row is left only by an explicit retry, which starts a new generation.
CREATE FUNCTION refuse_change_of_final_task() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.generation = OLD.generation + 1 AND OLD.state <> 'COMPLETED' AND NEW.finished_at IS NULL THEN
        RETURN NEW;
    END IF;
    RAISE EXCEPTION 'task % is % and final; only a retry may change it', OLD.id, OLD.state
        USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER tasks_final_is_final BEFORE UPDATE ON tasks FOR EACH ROW
    WHEN (OLD.state IN ('COMPLETED', 'FAILED', 'TIMEOUT', 'CANCELLED'))
    EXECUTE FUNCTION refuse_change_of_final_task();

-- One row per failed attempt; success needs none.
CREATE TABLE task_failures (
    task_id          uuid NOT NULL REFERENCES tasks ON DELETE CASCADE,
    attempt          integer NOT NULL,
    worker_id        text,
    kind             text NOT NULL,
    message          text NOT NULL,
    started_at       timestamptz,
    duration_seconds double precision NOT NULL,
    cost_usd         double precision NOT NULL DEFAULT 0,
    PRIMARY KEY (task_id, attempt)
);

CREATE TABLE idempotency_keys (
    key          text PRIMARY KEY,
    request_hash bytea NOT NULL,
    task_id      uuid NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX idempotency_keys_of_task ON idempotency_keys (task_id);
