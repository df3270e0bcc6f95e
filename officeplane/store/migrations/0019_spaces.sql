-- Spaces, and who asked for what: created_by is who called, on_behalf_of what the caller said of itself.

ALTER TABLE tasks
    ADD COLUMN space text NOT NULL DEFAULT 'default',
    ADD COLUMN on_behalf_of text;
ALTER TABLE dags
    ADD COLUMN space text NOT NULL DEFAULT 'default',
    ADD COLUMN on_behalf_of text;
ALTER TABLE dead_letters ADD COLUMN space text NOT NULL DEFAULT 'default';
ALTER TABLE documents ADD COLUMN space text NOT NULL DEFAULT 'default';
ALTER TABLE paused_documents ADD COLUMN space text NOT NULL DEFAULT 'default';

-- What has a document is in the space that the document's name says.
ALTER TABLE tasks ADD CONSTRAINT tasks_of_their_documents_space CHECK (
    document_id IS NULL OR CASE WHEN space = 'default' THEN strpos(document_id, '/') = 0
                                ELSE starts_with(document_id, space || '/') END);
ALTER TABLE documents ADD CONSTRAINT documents_named_by_their_space CHECK (
    CASE WHEN space = 'default' THEN strpos(id, '/') = 0 ELSE starts_with(id, space || '/') END);
ALTER TABLE paused_documents ADD CONSTRAINT paused_documents_named_by_their_space CHECK (
    CASE WHEN space = 'default' THEN strpos(document_id, '/') = 0 ELSE starts_with(document_id, space || '/') END);

-- An index on all tasks costs every claim and every end of one; the default space's lists walk through all.
CREATE INDEX tasks_of_space ON tasks (space, seq) WHERE space <> 'default';
CREATE INDEX documents_of_space ON documents (space, seq);
CREATE INDEX dags_of_space ON dags (space, seq);
CREATE INDEX dead_letters_of_space ON dead_letters (space, seq);
CREATE INDEX dead_letters_unresolved_of_space ON dead_letters (space, seq) WHERE resolved_at IS NULL;

-- What refers to a task or a DAG is of the same space; nothing moves to another.
-- One look a reference: an expression with all of them costs three times as much, whichever there is.
CREATE FUNCTION refuse_another_space() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    place text := NEW.space;
BEGIN
    IF TG_OP = 'UPDATE' THEN
        place := OLD.space;
    END IF;
    IF place = NEW.space AND NEW.parent_id IS NOT NULL THEN
        place := (SELECT space FROM tasks WHERE id = NEW.parent_id);
    END IF;
    IF place = NEW.space AND NEW.dag_id IS NOT NULL THEN
        place := (SELECT space FROM dags WHERE id = NEW.dag_id);
    END IF;
    IF place = NEW.space AND NEW.spawned_by IS NOT NULL THEN
        place := (SELECT space FROM tasks WHERE id = NEW.spawned_by);
    END IF;
    IF place IS DISTINCT FROM NEW.space THEN
        RAISE EXCEPTION 'task % of space % refers to another space', NEW.id, NEW.space
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER tasks_refer_to_their_space AFTER INSERT ON tasks FOR EACH ROW
    WHEN (NEW.parent_id IS NOT NULL OR NEW.dag_id IS NOT NULL OR NEW.spawned_by IS NOT NULL)
    EXECUTE FUNCTION refuse_another_space();
-- Before, not after: after, every update of any column would be looked at once more.
CREATE TRIGGER tasks_stay_in_their_space BEFORE UPDATE OF space ON tasks FOR EACH ROW
    WHEN (NEW.space <> OLD.space) EXECUTE FUNCTION refuse_another_space();
CREATE TRIGGER tasks_go_on_referring_to_their_space BEFORE UPDATE OF parent_id, dag_id, spawned_by ON tasks FOR EACH ROW
    WHEN (NEW.parent_id IS DISTINCT FROM OLD.parent_id AND NEW.parent_id IS NOT NULL
       OR NEW.dag_id IS DISTINCT FROM OLD.dag_id AND NEW.dag_id IS NOT NULL
       OR NEW.spawned_by IS DISTINCT FROM OLD.spawned_by AND NEW.spawned_by IS NOT NULL)
    EXECUTE FUNCTION refuse_another_space();

CREATE FUNCTION refuse_dag_to_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'DAG % stays in space %', NEW.id, OLD.space USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER dags_stay_in_their_space AFTER UPDATE OF space ON dags FOR EACH ROW
    WHEN (NEW.space <> OLD.space) EXECUTE FUNCTION refuse_dag_to_move();

CREATE FUNCTION refuse_edge_to_another_space() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    -- Nearly always all are of one space, and a hundred thousand edges are between ten thousand tasks at most.
    IF (SELECT count(DISTINCT space) FROM tasks
         WHERE id IN (SELECT task_id FROM added UNION SELECT depends_on FROM added)) > 1
       AND EXISTS (SELECT FROM added e, tasks t, tasks d
                    WHERE t.id = e.task_id AND d.id = e.depends_on AND d.space <> t.space) THEN
        RAISE EXCEPTION 'a task depends on one of another space' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER task_edges_stay_in_their_space AFTER INSERT ON task_edges
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_edge_to_another_space();
CREATE TRIGGER task_edges_stay_in_their_space_when_changed AFTER UPDATE ON task_edges
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_edge_to_another_space();

-- The space that a key lives in, and what it is narrowed to there; null: nothing. In names inside, the slash ends the
-- name of the space.
ALTER TABLE api_keys
    ADD COLUMN space text NOT NULL DEFAULT 'default',
    ADD COLUMN documents text[],
    ADD COLUMN task_types text[],
    ADD COLUMN agents text[],
    ADD COLUMN most_urgent smallint NOT NULL DEFAULT 0,
    ADD COLUMN quotas jsonb,
    ADD CONSTRAINT api_keys_space_is_a_name CHECK (space ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
    ADD CONSTRAINT api_keys_most_urgent_is_a_priority CHECK (most_urgent BETWEEN 0 AND 100);
-- Two spaces may have keys of one name.
DROP INDEX api_keys_name;
CREATE UNIQUE INDEX api_keys_name ON api_keys (space, name) WHERE revoked_at IS NULL AND replaced_by IS NULL;
DROP TRIGGER api_keys_changed ON api_keys;
CREATE TRIGGER api_keys_changed
    AFTER INSERT OR DELETE OR TRUNCATE
       OR UPDATE OF name, digest, scopes, expires_at, revoked_at, replaced_by, documents, task_types, agents, most_urgent,
                    quotas
       ON api_keys
    FOR EACH STATEMENT EXECUTE FUNCTION count_api_keys_change();
