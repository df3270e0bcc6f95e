-- A worker whose event loop does not turn says so with its heartbeat: since when, in which task, and where.

ALTER TABLE workers
    ADD COLUMN blocked_since timestamptz,
    ADD COLUMN blocked_task_id uuid,
    ADD COLUMN blocked_task_type text,
    ADD COLUMN blocked_at text;
