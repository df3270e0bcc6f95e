-- Sessions of people who have logged in, and links with which one logs in once.

CREATE TABLE sessions (
    -- SHA-256 of the token that the browser has: the token itself is nowhere.
    digest     bytea PRIMARY KEY,
    subject    text NOT NULL,
    login      text NOT NULL,
    -- Of a session that was begun with a key they are the key's, as they are at the time.
    scopes     text[],
    key_id     uuid REFERENCES api_keys (id) ON DELETE CASCADE,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at   timestamptz,

    CONSTRAINT sessions_digest_is_sha256 CHECK (octet_length(digest) = 32),
    CONSTRAINT sessions_login_is_known CHECK (login IN ('link', 'key', 'oidc')),
    CONSTRAINT sessions_key_is_that_of_the_login CHECK ((login = 'key') = (key_id IS NOT NULL)),
    CONSTRAINT sessions_has_scopes_or_a_key CHECK ((scopes IS NULL) = (key_id IS NOT NULL) AND cardinality(scopes) > 0)
);
CREATE INDEX sessions_subject ON sessions (login, subject, created_at);
CREATE INDEX sessions_key ON sessions (key_id) WHERE key_id IS NOT NULL;

CREATE TABLE login_links (
    -- SHA-256 of the token in the link.
    digest     bytea PRIMARY KEY,
    scopes     text[] NOT NULL,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    expires_at timestamptz NOT NULL,
    spent_at   timestamptz,

    CONSTRAINT login_links_digest_is_sha256 CHECK (octet_length(digest) = 32),
    CONSTRAINT login_links_has_scopes CHECK (cardinality(scopes) > 0)
);
