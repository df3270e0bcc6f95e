-- Dependencies between tasks, and the DAGs that hold tasks together.

CREATE TABLE task_edges (
    task_id    uuid NOT NULL,
    depends_on uuid NOT NULL,
    PRIMARY KEY (task_id, depends_on),
    CONSTRAINT task_edges_lead_elsewhere CHECK (task_id <> depends_on)
);
CREATE INDEX task_edges_of_dependency ON task_edges (depends_on, task_id);

-- How many of a task's blockers are dependencies; what is left of these is its turn in a batch.
ALTER TABLE tasks ADD COLUMN unmet integer NOT NULL DEFAULT 0,
    ADD CONSTRAINT tasks_unmet_blocks CHECK (unmet BETWEEN 0 AND blockers);

CREATE TABLE dags (
    id                  uuid PRIMARY KEY,
    seq                 bigint GENERATED ALWAYS AS IDENTITY,
    title               text,
    status              text NOT NULL DEFAULT 'running',
    created_by          text,
    created_at          timestamptz NOT NULL DEFAULT clock_timestamp(),
    finished_at         timestamptz,
    cancel_requested_at timestamptz,
    -- It has failed, and some of its tasks wait behind a failure.
    is_stuck            boolean NOT NULL DEFAULT false,

    CONSTRAINT dags_status_is_known CHECK (status IN ('running', 'completed', 'failed', 'cancelled')),
    CONSTRAINT dags_failed_may_be_stuck CHECK (NOT is_stuck OR status = 'failed'),
    CONSTRAINT dags_final_has_an_end CHECK ((status = 'running') = (finished_at IS NULL))
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX dags_in_order ON dags (seq);

-- What an event tells of that happened to a DAG.
ALTER TABLE events ADD COLUMN dag_id uuid;

CREATE INDEX tasks_of_dag ON tasks (dag_id, seq) WHERE dag_id IS NOT NULL;
CREATE UNIQUE INDEX tasks_keys_of_dag ON tasks (dag_id, key) WHERE dag_id IS NOT NULL AND parent_id IS NULL;
CREATE INDEX tasks_going_on_in_dag ON tasks (dag_id)
    WHERE dag_id IS NOT NULL AND runnable AND blockers = 0
      AND state IN ('PENDING', 'QUEUED', 'RETRYING', 'CLAIMED', 'RUNNING', 'VALIDATING');
CREATE INDEX tasks_with_unmet ON tasks (seq) WHERE unmet > 0 AND state = 'PENDING';
