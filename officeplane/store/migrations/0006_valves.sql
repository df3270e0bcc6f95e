-- Valves: what keeps tasks of a type, or of a document, from being claimed.

-- No row: nothing keeps tasks of this type.
CREATE TABLE valves (
    task_type               text PRIMARY KEY,
    paused                  boolean NOT NULL DEFAULT false,
    -- Until when the type is slowed down because somebody told it to wait.
    slow_until              timestamptz,
    breaker                 text NOT NULL DEFAULT 'closed',
    -- Failed attempts in a row.
    failures                integer NOT NULL DEFAULT 0,
    -- The type's own; null is the installation's.
    failure_threshold       integer,
    half_open_after_seconds double precision,
    opened_at               timestamptz,
    retry_at                timestamptz,
    -- The one task that a half-open breaker lets through, and until when it may be claimed.
    probe_task_id           uuid,
    probe_until             timestamptz,
    -- Declared limits. Tokens are those that were left when some were last taken.
    rate_per_second         double precision,
    tokens                  double precision NOT NULL DEFAULT 0,
    tokens_at               timestamptz NOT NULL DEFAULT clock_timestamp(),
    concurrency             integer,
    limited                 boolean NOT NULL
                            GENERATED ALWAYS AS (rate_per_second IS NOT NULL OR concurrency IS NOT NULL) STORED,

    CONSTRAINT valves_breaker_is_known CHECK (breaker IN ('closed', 'open', 'half_open')),
    CONSTRAINT valves_open_since CHECK ((breaker = 'closed') = (opened_at IS NULL) AND (opened_at IS NULL) = (retry_at IS NULL)),
    CONSTRAINT valves_probe_of_half_open CHECK
        ((probe_task_id IS NULL) = (probe_until IS NULL) AND (probe_task_id IS NULL OR breaker = 'half_open')),
    CONSTRAINT valves_rate_is_positive CHECK (rate_per_second > 0),
    CONSTRAINT valves_concurrency_is_positive CHECK (concurrency > 0)
) WITH (fillfactor = 50);

CREATE TABLE paused_documents (
    document_id text PRIMARY KEY,
    paused_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
