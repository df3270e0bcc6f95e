-- What workers measure: how long tasks waited and ran, by type, and pops that led to nothing.

CREATE TABLE observations (
    counted_by text NOT NULL,
    measure    text NOT NULL,
    task_type  text NOT NULL,
    -- The bucket: what is counted here was no longer than this, and longer than the bound before.
    up_to      double precision NOT NULL,
    count      bigint NOT NULL,
    seconds    double precision NOT NULL,
    -- The last report of the worker that is counted in; one that comes again adds nothing.
    report     bigint NOT NULL,
    PRIMARY KEY (counted_by, measure, task_type, up_to)
) WITH (fillfactor = 50);

-- Those that metrics count; the others are history.
CREATE INDEX dags_unsettled ON dags (status) WHERE status IN ('running', 'failed');
