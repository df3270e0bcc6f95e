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
