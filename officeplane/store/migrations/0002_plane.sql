-- What surrounds the tasks: events, counters, workers and the leaders of chores.

-- One row per statement and kind. `xid` orders what readers may see: they stop
-- below the oldest transaction still under way, so a late commit is never skipped.
CREATE TABLE events (
    xid          xid8 NOT NULL DEFAULT pg_current_xact_id(),
    id           bigint GENERATED ALWAYS AS IDENTITY,
    at           timestamptz NOT NULL DEFAULT clock_timestamp(),
    kind         text NOT NULL,
    task_ids     uuid[] NOT NULL,
    document_ids text[] NOT NULL,
    PRIMARY KEY (xid, id)
);
-- Ids do not compress; trying costs more than the insert.
ALTER TABLE events ALTER COLUMN task_ids SET STORAGE EXTERNAL, ALTER COLUMN document_ids SET STORAGE EXTERNAL;

CREATE TABLE task_counters (
    counted_by text NOT NULL,
    task_type  text NOT NULL,
    outcome    text NOT NULL,
    reason     text NOT NULL,
    count      bigint NOT NULL,
    PRIMARY KEY (counted_by, task_type, outcome, reason)
) WITH (fillfactor = 50);

CREATE TABLE workers (
    id           text PRIMARY KEY,
    host         text NOT NULL,
    pid          integer NOT NULL,
    concurrency  integer NOT NULL,
    running      integer NOT NULL,
    task_types   text[] NOT NULL,
    started_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    last_seen_at timestamptz NOT NULL
) WITH (fillfactor = 50);

CREATE TABLE chore_leaders (
    chore     text PRIMARY KEY,
    worker_id text NOT NULL,
    until     timestamptz NOT NULL
) WITH (fillfactor = 50);
