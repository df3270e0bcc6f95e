-- What handlers have spawned, and under which key: one that runs again from the top finds it.

CREATE TABLE spawns (
    spawned_by   uuid NOT NULL,
    key          text NOT NULL,
    task_id      uuid NOT NULL,
    -- Of the spawning task: a later one does not have to live with what was cancelled.
    generation   integer NOT NULL,
    request_hash bytea NOT NULL,
    PRIMARY KEY (spawned_by, key)
);
