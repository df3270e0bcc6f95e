-- Keys by which callers are known.

CREATE TABLE api_keys (
    id           uuid PRIMARY KEY,
    name         text NOT NULL,
    -- SHA-256 of the key: the key itself is nowhere.
    digest       bytea NOT NULL,
    -- The first characters, by which people tell keys apart.
    shown        text NOT NULL,
    scopes       text[] NOT NULL,
    created_by   text NOT NULL,
    created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at   timestamptz,
    revoked_at   timestamptz,
    last_used_at timestamptz,
    -- The key that came in its place; it has the same name, so it is stored after this is noted.
    replaced_by  uuid REFERENCES api_keys (id) DEFERRABLE INITIALLY DEFERRED,

    CONSTRAINT api_keys_digest_is_sha256 CHECK (octet_length(digest) = 32),
    CONSTRAINT api_keys_has_scopes CHECK (cardinality(scopes) > 0)
);
CREATE UNIQUE INDEX api_keys_digest ON api_keys (digest);
-- Two keys that work may not have one name; a key that is replaced works on beside its successor for a while.
CREATE UNIQUE INDEX api_keys_name ON api_keys (name) WHERE revoked_at IS NULL AND replaced_by IS NULL;

-- One row, which is locked by whoever changes what a key may do: what has risen is committed.
-- When a key was used last is no such change.
CREATE TABLE api_keys_version (
    version bigint NOT NULL
);
CREATE UNIQUE INDEX api_keys_version_is_one ON api_keys_version ((true));
INSERT INTO api_keys_version (version) VALUES (0);

CREATE FUNCTION count_api_keys_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE api_keys_version SET version = version + 1;
    RETURN NULL;
END $$;
CREATE TRIGGER api_keys_changed
    AFTER INSERT OR DELETE OR TRUNCATE OR UPDATE OF name, digest, scopes, expires_at, revoked_at, replaced_by ON api_keys
    FOR EACH STATEMENT EXECUTE FUNCTION count_api_keys_change();
