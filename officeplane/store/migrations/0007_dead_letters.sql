-- Dead letters: what gave up, what was decided about it, and who is still to be told.

-- Tells equal failures from different ones.
ALTER TABLE task_failures ADD COLUMN fingerprint text;

-- One row per generation of a task that gave up. No reference to tasks: these are pruned, decisions are not.
CREATE TABLE dead_letters (
    task_id          uuid NOT NULL,
    generation       integer NOT NULL,
    seq              bigint GENERATED ALWAYS AS IDENTITY,
    task_type        text NOT NULL,
    document_id      text,
    dag_id           uuid,
    kind             text NOT NULL,
    message          text NOT NULL,
    fingerprint      text NOT NULL,
    poison_pill      boolean NOT NULL,
    -- Two workers saw the same failure: it is hardly the workers' fault.
    recurring        boolean NOT NULL,
    total_cost_usd   double precision NOT NULL,
    dead_lettered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    escalated_at     timestamptz,
    resolution       text,
    resolved_by      text,
    resolved_at      timestamptz,
    note             text,
    -- Decided to go; the pruner need not wait for its days.
    discarded        boolean NOT NULL DEFAULT false,

    PRIMARY KEY (task_id, generation),
    CONSTRAINT dead_letters_resolution_is_known CHECK
        (resolution IN ('retry', 'modify_and_retry', 'cancel', 'delete')),
    CONSTRAINT dead_letters_resolved_as_something CHECK
        ((resolution IS NULL) = (resolved_at IS NULL) AND (resolved_at IS NULL) = (resolved_by IS NULL)),
    CONSTRAINT dead_letters_discarded_by_decision CHECK (NOT discarded OR resolution = 'delete')
);
CREATE UNIQUE INDEX dead_letters_in_order ON dead_letters (seq);
CREATE INDEX dead_letters_alike ON dead_letters (fingerprint, seq);
CREATE INDEX dead_letters_unresolved ON dead_letters (task_id) WHERE resolved_at IS NULL;
CREATE INDEX dead_letters_unresolved_in_order ON dead_letters (seq) WHERE resolved_at IS NULL;
CREATE INDEX dead_letters_discarded ON dead_letters (task_id) WHERE discarded;

-- Who decided what, and when; kept for good.
CREATE TABLE dead_letter_decisions (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task_id    uuid NOT NULL,
    generation integer NOT NULL,
    decision   text NOT NULL,
    decided_by text NOT NULL,
    decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    note       text,

    FOREIGN KEY (task_id, generation) REFERENCES dead_letters,
    CONSTRAINT dead_letter_decisions_decision_is_known CHECK
        (decision IN ('retry', 'modify_and_retry', 'cancel', 'escalate', 'delete', 'note'))
);
CREATE INDEX dead_letter_decisions_of_letter ON dead_letter_decisions (task_id, id);

-- Alerts that somebody has still to be sent; a row goes when its POST was answered.
CREATE TABLE alerts (
    id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    task_id    uuid NOT NULL,
    generation integer NOT NULL,
    reason     text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    due_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    tries      integer NOT NULL DEFAULT 0,

    CONSTRAINT alerts_reason_is_known CHECK (reason IN ('dead_lettered', 'escalated'))
);
CREATE INDEX alerts_due ON alerts (due_at);
