-- As which agents a key may claim; null: as any. And what a space may be called: where its name ends, inside, is the slash.

ALTER TABLE api_keys
    ADD COLUMN agents text[],
    ADD CONSTRAINT api_keys_space_is_a_name CHECK (space ~ '^[a-z0-9][a-z0-9-]{0,62}$');
DROP TRIGGER api_keys_changed ON api_keys;
CREATE TRIGGER api_keys_changed
    AFTER INSERT OR DELETE OR TRUNCATE
       OR UPDATE OF name, digest, scopes, expires_at, revoked_at, replaced_by, documents, task_types, most_urgent, agents
       ON api_keys
    FOR EACH STATEMENT EXECUTE FUNCTION count_api_keys_change();

-- What refers to a task or a DAG goes on referring to one of its own space, and a DAG stays in its space as well.
CREATE OR REPLACE FUNCTION refuse_another_space() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'UPDATE' AND NEW.space <> OLD.space
       OR NEW.parent_id IS NOT NULL AND NOT EXISTS (SELECT FROM tasks WHERE id = NEW.parent_id AND space = NEW.space)
       OR NEW.dag_id IS NOT NULL AND NOT EXISTS (SELECT FROM dags WHERE id = NEW.dag_id AND space = NEW.space)
       OR NEW.spawned_by IS NOT NULL AND NOT EXISTS (SELECT FROM tasks WHERE id = NEW.spawned_by AND space = NEW.space)
    THEN
        RAISE EXCEPTION 'task % of space % refers to another space', NEW.id, NEW.space
            USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN NULL;
END $$;
CREATE TRIGGER tasks_go_on_referring_to_their_space AFTER UPDATE OF parent_id, dag_id, spawned_by ON tasks FOR EACH ROW
    WHEN (NEW.parent_id IS DISTINCT FROM OLD.parent_id AND NEW.parent_id IS NOT NULL
       OR NEW.dag_id IS DISTINCT FROM OLD.dag_id AND NEW.dag_id IS NOT NULL
       OR NEW.spawned_by IS DISTINCT FROM OLD.spawned_by AND NEW.spawned_by IS NOT NULL)
    EXECUTE FUNCTION refuse_another_space();
CREATE TRIGGER task_edges_stay_in_their_space_when_changed AFTER UPDATE ON task_edges
    REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION refuse_edge_to_another_space();

CREATE FUNCTION refuse_dag_to_move() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'DAG % stays in space %', NEW.id, OLD.space USING ERRCODE = 'integrity_constraint_violation';
END $$;
CREATE TRIGGER dags_stay_in_their_space AFTER UPDATE OF space ON dags FOR EACH ROW
    WHEN (NEW.space <> OLD.space) EXECUTE FUNCTION refuse_dag_to_move();
