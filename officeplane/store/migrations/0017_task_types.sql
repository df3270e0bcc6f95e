-- Task types that no handler does: declared in the ledger, done by those who come for their tasks.

CREATE TABLE task_types (
    name           text PRIMARY KEY,
    title          text NOT NULL,
    -- Who does its tasks.
    executor       text NOT NULL DEFAULT 'agent',
    payload_schema jsonb,
    result_schema  jsonb,
    -- What its tasks have when they do not say otherwise.
    defaults       jsonb NOT NULL DEFAULT '{}',
    created_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_at     timestamptz NOT NULL DEFAULT clock_timestamp(),

    CONSTRAINT task_types_executor_is_known CHECK (executor IN ('agent'))
);

-- One row. Whoever has read the table compares it, and reads the table again only if it has risen:
-- it is locked by whoever changes the table, so what has risen is committed, and a deletion counts too.
CREATE TABLE task_types_version (
    version bigint NOT NULL
);
CREATE UNIQUE INDEX task_types_version_is_one ON task_types_version ((true));
INSERT INTO task_types_version (version) VALUES (0);

CREATE FUNCTION count_task_types_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE task_types_version SET version = version + 1;
    RETURN NULL;
END $$;
CREATE TRIGGER task_types_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON task_types
    FOR EACH STATEMENT EXECUTE FUNCTION count_task_types_change();
