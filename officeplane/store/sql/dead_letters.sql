-- Letters: dead ones, read by those who review them and resolved by what they decide.

-- part: columns
seq, task_id, generation, task_type, document_id, dag_id, kind, message, fingerprint, poison_pill, recurring,
total_cost_usd, dead_lettered_at, escalated_at, resolution, resolved_by, resolved_at, note

-- name: page
-- One page of letters, newest first. No row: nothing fits, or the page is past the end.
SELECT {columns} FROM dead_letters
 WHERE seq < :before::bigint
   AND (:resolved::boolean IS NULL OR (resolved_at IS NOT NULL) = :resolved::boolean)
   AND (:task_type::text IS NULL OR task_type = :task_type::text)
   AND (:document_id::text IS NULL OR document_id = :document_id::text)
   AND (:fingerprint::text IS NULL OR fingerprint = :fingerprint::text)
   AND {visible}
 ORDER BY seq DESC LIMIT :limit::integer

-- name: unresolved_page
-- One page of unresolved letters, newest first. No row: as there.
SELECT {columns} FROM dead_letters
 WHERE seq < :before::bigint AND resolved_at IS NULL
   AND (:task_type::text IS NULL OR task_type = :task_type::text)
   AND (:document_id::text IS NULL OR document_id = :document_id::text)
   AND (:fingerprint::text IS NULL OR fingerprint = :fingerprint::text)
   AND {visible}
 ORDER BY seq DESC LIMIT :limit::integer

-- name: latest
-- The letter of a task's latest generation that gave up. No row: none did, for this caller.
SELECT {columns} FROM dead_letters WHERE task_id = :task_id::uuid AND {visible} ORDER BY generation DESC LIMIT 1

-- name: lock_latest
-- The same, locked for whoever decides about it. No row: as there.
SELECT {columns} FROM dead_letters WHERE task_id = :task_id::uuid ORDER BY generation DESC LIMIT 1 FOR NO KEY UPDATE

-- name: of_generations
-- The letters of these generations of these tasks. No row: they are gone.
SELECT {columns} FROM dead_letters
 WHERE (task_id, generation) IN (SELECT * FROM unnest(:task_ids::uuid[], :generations::integer[]))

-- name: decisions
-- Everything decided about tasks' letters, in order. No row: nothing was.
SELECT task_id, generation, decision, decided_by, decided_at, note FROM dead_letter_decisions
 WHERE task_id = ANY(:task_ids::uuid[]) ORDER BY task_id, id

-- name: is_known
-- Whether any letter has this fingerprint. No row: none has.
SELECT FROM dead_letters WHERE fingerprint = :fingerprint::text AND {visible} LIMIT 1

-- name: alike
-- Unresolved letters of one fingerprint after a position, oldest first. No row: there are no more.
SELECT seq, task_id, task_type FROM dead_letters
 WHERE fingerprint = :fingerprint::text AND seq > :after::bigint AND resolved_at IS NULL AND {visible}
 ORDER BY seq LIMIT :limit::integer

-- name: unresolved_among
-- Whether any of these tasks has an unresolved letter. No row: none has.
SELECT FROM dead_letters WHERE task_id = ANY(:task_ids::uuid[]) AND resolved_at IS NULL LIMIT 1

-- name: resolve
-- Resolves the unresolved letters of tasks and records who decided it; a retry in spite of
-- what was decided before is recorded too. No row: they had none.
WITH resolved AS (
    UPDATE dead_letters SET resolution = :decision::text, resolved_by = :decided_by::text,
           resolved_at = clock_timestamp(), note = coalesce(:note::text, note), discarded = :decision::text = 'delete'
     WHERE task_id = ANY(:task_ids::uuid[]) AND resolved_at IS NULL
    RETURNING task_id, generation
), reversed AS (
    -- Of the generation before the one that the retry has just begun.
    SELECT l.task_id, l.generation
      FROM unnest(:task_ids::uuid[]) AS r(id), LATERAL (SELECT id, generation FROM tasks WHERE id = r.id) t,
           LATERAL (SELECT task_id, generation FROM dead_letters
                     WHERE task_id = t.id AND generation = t.generation - 1 AND resolved_at IS NOT NULL) l
     WHERE :decision::text = 'retry'
)
INSERT INTO dead_letter_decisions (task_id, generation, decision, decided_by, note)
SELECT task_id, generation, :decision::text, :decided_by::text, :note::text
  FROM (SELECT * FROM resolved UNION ALL SELECT * FROM reversed) decided ORDER BY task_id, generation
RETURNING task_id

-- name: remark
-- Records a decision that leaves a letter unresolved, and whom to alert for it. No row: it is resolved.
WITH remarked AS (
    UPDATE dead_letters SET note = coalesce(:note::text, note),
           escalated_at = CASE WHEN :decision::text = 'escalate' THEN clock_timestamp() ELSE escalated_at END
     WHERE task_id = :task_id::uuid AND resolved_at IS NULL
    RETURNING task_id, generation
), alerted AS (
    INSERT INTO deliveries (destination, body)
    SELECT 'alerts', jsonb_build_object('taskId', task_id, 'generation', generation, 'reason', 'escalated')
      FROM remarked WHERE :alerts::boolean AND :decision::text = 'escalate'
)
INSERT INTO dead_letter_decisions (task_id, generation, decision, decided_by, note)
SELECT task_id, generation, :decision::text, :decided_by::text, :note::text FROM remarked
RETURNING task_id

-- name: write_awaited
-- Writes the letters of what failed as an answer to whoever asked, now that tasks wait for it:
-- for one of these tasks, for a batch among them that it is in, or for a child of the atomic
-- batch that it is. No row: nothing waits for them, or nothing of them failed so.
WITH RECURSIVE awaited AS (
    SELECT t.id, t.parent_id FROM tasks t
     WHERE t.id = ANY(:task_ids::uuid[]) AND t.state IN {gave_up}
       AND EXISTS (SELECT FROM task_edges e, LATERAL (SELECT state FROM tasks WHERE id = e.task_id OFFSET 0) d
                    WHERE e.depends_on = t.id AND d.state = 'PENDING')
), around AS (
    SELECT id FROM awaited
    UNION
    SELECT p.id FROM awaited a, LATERAL (SELECT id FROM tasks WHERE id = a.parent_id AND runnable) p
    UNION
    SELECT c.id FROM around, LATERAL (SELECT id FROM tasks WHERE parent_id = around.id OFFSET 0) c
), answered AS MATERIALIZED (
    SELECT id, generation, task_type, document_id, space, dag_id, poison_pill, {is_younger} FROM tasks
     WHERE id = ANY(ARRAY(SELECT id FROM around)) AND state IN {gave_up} AND error ->> 'kind' IN {answers}
     ORDER BY id FOR NO KEY UPDATE
), letters AS (
    INSERT INTO dead_letters (task_id, generation, task_type, document_id, space, dag_id, kind, message, fingerprint,
                              poison_pill, recurring, total_cost_usd)
    SELECT a.id, a.generation, a.task_type, a.document_id, a.space, a.dag_id, f.kind, f.message, f.fingerprint, a.poison_pill,
           record.recurring, record.cost_usd
      FROM answered a,
           -- A child of an atomic batch has none: the letter is the whole's.
           LATERAL (SELECT kind, message, fingerprint, worker_id FROM task_failures
                     WHERE task_id = a.id AND fingerprint IS NOT NULL ORDER BY attempt DESC LIMIT 1) f,
           LATERAL (SELECT coalesce(bool_or(b.fingerprint = f.fingerprint AND b.worker_id <> f.worker_id), false)
                               AS recurring,
                           sum(b.cost_usd) AS cost_usd
                      FROM task_failures b WHERE b.task_id = a.id) record
    ON CONFLICT DO NOTHING
    RETURNING task_id, generation, task_type, document_id, space, kind
), alerted AS (
    INSERT INTO deliveries (destination, body)
    SELECT 'alerts', jsonb_build_object('taskId', task_id, 'generation', generation, 'reason', 'dead_lettered')
      FROM letters WHERE :alerts::boolean
), counts AS (
    SELECT qualified(space, task_type) AS task_type, 'dead_lettered' AS outcome, kind AS reason FROM letters
), counted AS (
    {counted}
), happened AS (
    SELECT 1 AS turn, 'task.dead_lettered' AS kind, task_id AS id, document_id, space FROM letters
), told AS (
    {told}
)
SELECT id, is_younger FROM answered

-- name: replace_payload
-- Gives a task that was reopened in this transaction, as another content, another payload; the
-- batch that it belongs to may have been going on, and is another content from now on, too.
-- No row: it is final.
WITH whole AS (
    UPDATE tasks SET content_hash = NULL
     WHERE id = :root_id::uuid AND id <> :task_id::uuid AND state IN {unfinished} AND content_hash IS NOT NULL
)
UPDATE tasks SET payload = :payload::jsonb WHERE id = :task_id::uuid AND state IN {waiting} RETURNING id

-- name: expire
-- Forgets letters, with what was decided about them, whose task is gone: of those that were resolved, long
-- after that; of those that nobody has looked at, after much longer, their tasks' rows or not. No row: none is old enough.
WITH old AS MATERIALIZED (
    SELECT l.task_id, l.generation FROM dead_letters l
     WHERE l.resolved_at < clock_timestamp() - make_interval(secs => :resolved_seconds::float8)
       AND NOT EXISTS (SELECT FROM tasks t WHERE t.id = l.task_id)
        OR l.resolved_at IS NULL
       AND l.dead_lettered_at < clock_timestamp() - make_interval(secs => :undecided_seconds::float8)
     LIMIT :limit::integer FOR UPDATE SKIP LOCKED
), decisions AS (
    DELETE FROM dead_letter_decisions d USING old WHERE d.task_id = old.task_id AND d.generation = old.generation
)
DELETE FROM dead_letters l USING old WHERE l.task_id = old.task_id AND l.generation = old.generation
RETURNING l.task_id
