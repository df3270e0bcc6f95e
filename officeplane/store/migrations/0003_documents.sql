-- Documents: their heads, their revisions, and the pieces that their bytes are made of.

CREATE TABLE documents (
    id         text PRIMARY KEY,
    seq        bigint GENERATED ALWAYS AS IDENTITY,
    format     text NOT NULL,
    title      text,
    head       bigint NOT NULL,
    created_by text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    deleted_at timestamptz,

    CONSTRAINT documents_format_is_known CHECK (format IN ('docx', 'xlsx', 'pptx')),
    CONSTRAINT documents_head_counts CHECK (head >= 0)
) WITH (fillfactor = 50);
CREATE UNIQUE INDEX documents_in_order ON documents (seq);

-- Immutable, and without a reference to tasks: these are pruned, a document's history is not.
CREATE TABLE revisions (
    document_id text NOT NULL REFERENCES documents,
    revision    bigint NOT NULL,
    base        bigint NOT NULL,
    task_id     uuid,
    task_type   text,
    author      text,
    note        text,
    sha256      text NOT NULL,
    size        bigint NOT NULL,
    recipe      bytea NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp(),

    PRIMARY KEY (document_id, revision),
    CONSTRAINT revisions_of_task UNIQUE (task_id),
    CONSTRAINT revisions_are_a_chain CHECK (revision = base + 1)
);

-- Stretches of files by their SHA-256. Of one document only: nobody learns from a
-- stored piece what another document holds, and a deleted one takes its own along.
CREATE TABLE pieces (
    document_id text NOT NULL,
    key         bytea NOT NULL,
    bytes       bytea NOT NULL,
    PRIMARY KEY (document_id, key)
);
-- They are compressed already.
ALTER TABLE pieces ALTER COLUMN bytes SET STORAGE EXTERNAL;

-- Files that wait for their turn in a document's lane.
CREATE TABLE uploads (
    id          uuid PRIMARY KEY,
    document_id text NOT NULL,
    if_match    bigint,
    sha256      text NOT NULL,
    size        bigint NOT NULL,
    recipe      bytea NOT NULL,
    created_at  timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX uploads_by_age ON uploads (created_at);

-- An atomic batch is claimed itself and occupies its document; its children do neither.
ALTER TABLE tasks DROP CONSTRAINT tasks_parent_is_whole, ADD CONSTRAINT tasks_parent_is_whole CHECK (
    (parent_id IS NULL) = (position IS NULL)
    AND (on_child_failure IS NULL OR runnable = (on_child_failure = 'all'))
);

-- On which revision a reader's edit was based, and what to do when that is not the head.
CREATE TABLE edit_conditions (
    task_id       uuid PRIMARY KEY REFERENCES tasks ON DELETE CASCADE,
    base_revision bigint NOT NULL,
    on_conflict   text NOT NULL,
    CONSTRAINT edit_conditions_deed_is_known CHECK (on_conflict IN ('reject', 'rebase', 'force'))
);
