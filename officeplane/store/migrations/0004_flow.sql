-- Flow control: what else a task is part of, and how urgent it is besides its priority.

ALTER TABLE tasks
    -- The DAG it belongs to; most tasks stand alone.
    ADD COLUMN dag_id uuid,
    -- Whether some task waits for this one; its settlement then has more to do.
    ADD COLUMN has_dependents boolean NOT NULL DEFAULT false,
    -- The task whose handler spawned it, and under which key: the same one is never spawned twice.
    ADD COLUMN spawned_by uuid,
    ADD COLUMN spawn_key text,
    ADD COLUMN deadline timestamptz,
    -- Its own ageing; null is the installation's.
    ADD COLUMN boost_per_minute double precision,
    -- What being on a DAG's longest path takes off its priority.
    ADD COLUMN path_boost double precision NOT NULL DEFAULT 0,
    -- Of a task that must not be queued twice: the hash of what it would do.
    ADD COLUMN content_hash bytea;
