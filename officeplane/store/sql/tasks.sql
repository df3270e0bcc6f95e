-- Tasks: in, and out again for readers.

-- name: insert
-- Inserts tasks in the order given, tells of them, and keeps who has submitted them. A column without nulls that is the
-- same for all comes as one value, one of nulls as none. Always one row: a row of arrays
-- is read in half the time of a thousand rows.
WITH moment AS MATERIALIZED (
    SELECT clock_timestamp() AS now
), given AS (
    SELECT t.*, moment.now,
           -- Here, below an ORDER BY, it is computed once; where it is used it would be for each use.
           t.priority - t.path_boost - deadline_urgency(extract(epoch FROM t.deadline - moment.now)::float8) AS effective
      FROM moment,
           (SELECT {columns_given}, g.n
              FROM unnest({columns_sent})
                       WITH ORDINALITY AS g({columns_of_new_tasks}, n)) t
     ORDER BY t.n
), placed AS (
    SELECT *, CASE WHEN blockers > 0 OR run_at > now THEN 'PENDING' ELSE 'QUEUED' END AS state FROM given
), inserted AS (
    INSERT INTO tasks ({columns_of_new_tasks},
                       state, rank, created_at, queued_at, rung_at, rung_tier, has_dependents)
    SELECT {columns_stored},
           state, effective + {boost_per_minute} * extract(epoch FROM now) / 60, now,
           CASE WHEN state = 'QUEUED' THEN now END, now, tier_of(effective),
           -- A DAG waits for the end of each of its tasks.
           dag_id IS NOT NULL
      FROM placed
    RETURNING id, seq, state, rank, run_at, created_at, {place} AS place
), told AS (
    INSERT INTO events (kind, task_ids, document_ids)
    SELECT 'task.' || lower(state), array_agg(id ORDER BY seq), array_agg(place ORDER BY seq)
      FROM inserted GROUP BY state
), kept AS (
    {audited}
)
SELECT array_agg(seq ORDER BY seq) AS seqs, array_agg(state ORDER BY seq) AS states, array_agg(rank ORDER BY seq) AS ranks,
       array_agg(nullif(run_at, created_at) ORDER BY seq) AS run_ats, (SELECT now FROM moment) AS now
  FROM inserted

-- name: bound_lock_wait
-- Gives up waiting for a lock after a while, until the transaction ends; tells what it was before. Always one row.
SELECT current_setting('lock_timeout') AS before, set_config('lock_timeout', :wait::text, true)

-- name: remember_keys
-- Keeps idempotency keys for the tasks about to be inserted. No row for a key: it was used before.
INSERT INTO idempotency_keys (key, request_hash, task_id)
SELECT * FROM unnest(:keys::text[], :request_hashes::bytea[], :task_ids::uuid[])
ON CONFLICT (key) DO NOTHING
RETURNING key

-- name: recall_keys
-- What these keys were used for. No row: the key expired meanwhile.
SELECT key, request_hash, task_id FROM idempotency_keys WHERE key = ANY(:keys::text[])

-- name: pass_keys_on
-- Lets keys just kept stand for tasks that were there before. No row: it was none of these keys.
UPDATE idempotency_keys SET task_id = k.task_id
  FROM unnest(:keys::text[], :task_ids::uuid[]) AS k(key, task_id) WHERE idempotency_keys.key = k.key
RETURNING idempotency_keys.key

-- name: lock_contents
-- Waits until nobody else decides about tasks of these contents, and keeps it so until the
-- transaction ends. Always a row for each.
SELECT pg_advisory_xact_lock(content) FROM unnest(:lock_keys::bigint[]) AS content

-- name: contents
-- What stands for all that tasks do. No row: they may wait twice.
SELECT id, content_hash FROM tasks WHERE id = ANY(:task_ids::uuid[]) AND content_hash IS NOT NULL

-- name: of_contents
-- The unfinished tasks that do what a content stands for. No row: it may be inserted.
SELECT id, content_hash FROM tasks
 WHERE content_hash = ANY(:content_hashes::bytea[]) AND content_hash IS NOT NULL AND state IN {unfinished}

-- name: fetch
-- Tasks by id. No row: no such task, for this caller.
SELECT {task_columns} FROM tasks WHERE id = ANY(:task_ids::uuid[]) AND {visible}

-- name: visible
-- Which of these tasks a caller may see. No row: none.
SELECT id FROM tasks WHERE id = ANY(:task_ids::uuid[]) AND {visible}

-- name: owner
-- Who submitted a task. No row: no such task, for this caller.
SELECT created_by FROM tasks WHERE id = :task_id::uuid AND {visible}

-- name: states
-- The states of tasks by id. No row: no such task.
SELECT id, state FROM tasks WHERE id = ANY(:task_ids::uuid[])

-- part: selected
       (:states::text[] IS NULL OR state = ANY(:states::text[]))
   AND (:document_id::text IS NULL OR document_id = :document_id::text)
   AND (:task_type::text IS NULL OR task_type = :task_type::text)
   AND (:low::smallint IS NULL OR priority BETWEEN :low::smallint AND :high::smallint)
   AND (:parent_id::uuid IS NULL OR parent_id = :parent_id::uuid)
   AND (:tag::text IS NULL OR (tags @> ARRAY[:tag::text] AND tags <> '{}'))
   AND (:created_by::text IS NULL OR created_by = :created_by::text)
   AND (:on_behalf_of::text IS NULL OR on_behalf_of = :on_behalf_of::text)
   AND (:since::timestamptz IS NULL OR created_at >= :since::timestamptz)
   AND (:until::timestamptz IS NULL OR created_at < :until::timestamptz)
   AND {visible}

-- name: seq_at
-- The sequence number from which on tasks were created at a moment or later: a search by halves, for numbers
-- are given in the order of time, and there is no index by time to keep. Always one row.
WITH RECURSIVE search (low, high) AS (
    SELECT 0::bigint, coalesce((SELECT max(seq) FROM tasks WHERE seq > 0), 0) + 1
  UNION ALL
    SELECT CASE WHEN found.created_at < :moment::timestamptz THEN found.seq + 1 ELSE low END,
           CASE WHEN found.created_at < :moment::timestamptz THEN high ELSE middle END
      FROM (SELECT low, high, (low + high) / 2 AS middle FROM search WHERE low < high) half
      LEFT JOIN LATERAL (SELECT seq, created_at FROM tasks WHERE seq >= middle AND seq < high ORDER BY seq LIMIT 1) found
        ON true
) SELECT max(low) AS seq FROM search

-- name: page
-- One page of tasks, newest first, which ends early once they take 8 MiB: a list is made as a whole,
-- and of large tasks it would take all memory. `found` is how many it would have been. What they take
-- is measured without taking them along; a batch counts as if it had all the children that it may,
-- for to count them would have the planner forget what the list is of. So do failed attempts, which
-- count for a quarter of what they may take at most. No row: nothing fits, or the page is past the end.
SELECT {task_columns}, found
  FROM (SELECT *, count(*) OVER () AS found, sum(size) OVER (ORDER BY seq DESC ROWS UNBOUNDED PRECEDING) AS so_far
          FROM (SELECT *, octet_length(payload::text) + coalesce(octet_length(result::text), 0)
                       + coalesce(octet_length(error::text), 0)
                       + unmet * 40 + least(attempt, 25) * 2000 + CASE WHEN on_child_failure IS NULL THEN 0 ELSE 50000 END AS size
                  FROM tasks WHERE seq < :before::bigint AND (:at_least::bigint IS NULL OR seq >= :at_least::bigint) AND {selected} ORDER BY seq DESC LIMIT :limit::integer) newest) tasks
 WHERE so_far - size < 8 * 1024 * 1024 ORDER BY seq DESC

-- name: select
-- Tasks that fit, oldest first, so that a batch comes before its children. No row: nothing is left.
SELECT id, coalesce(ancestors[1], id) AS root_id, seq FROM tasks
 WHERE seq > :after::bigint AND (:below::bigint IS NULL OR seq < :below::bigint) AND {selected} ORDER BY seq LIMIT :limit::integer

-- name: children
-- The children of parents, in order. No row: they are no parents, or the caller sees none of these.
SELECT id, parent_id, task_type, state, key FROM tasks
 WHERE parent_id = ANY(:parent_ids::uuid[]) AND {visible} ORDER BY parent_id, position

-- name: failures
-- The latest failed attempts of tasks, in order. No row: none failed.
SELECT f.*
  FROM unnest(:task_ids::uuid[]) AS t(id),
       LATERAL (SELECT task_id, attempt, worker_id, kind, message, started_at, duration_seconds, cost_usd
                  FROM task_failures WHERE task_id = t.id ORDER BY attempt DESC LIMIT :limit::integer) f
 ORDER BY f.task_id, f.attempt

-- name: lane_position
-- What stands before a task in its lane, who holds the lane, and whether its time has come. Always one row.
SELECT (SELECT count(*) FROM tasks a
         WHERE a.document_id = t.document_id AND a.runnable AND a.state IN {claimable}
           AND (a.rank, a.seq) < (t.rank, t.seq) AND {may_head}) AS ahead,
       (SELECT a.id FROM tasks a
         WHERE a.document_id = t.document_id AND a.runnable AND a.state IN {claimable} AND {may_head}
         ORDER BY a.rank, a.seq LIMIT 1) AS head,
       o.id AS occupant, o.worker_id AS occupied_by, t.run_at <= clock_timestamp() AS is_due
  FROM (SELECT :document_id::text AS document_id, :rank::float8 AS rank, :seq::bigint AS seq, :run_at::timestamptz AS run_at) t
  LEFT JOIN tasks o ON o.document_id = t.document_id AND o.runnable AND o.state IN {active}

-- name: earlier_siblings
-- The unfinished siblings whose turn comes before a task's. No row: it is the next.
SELECT s.id, s.state FROM tasks s
 WHERE s.parent_id = :parent_id::uuid AND s.id <> :task_id::uuid AND s.state IN {unfinished} AND s.blockers = s.unmet
 ORDER BY s.position LIMIT 1
