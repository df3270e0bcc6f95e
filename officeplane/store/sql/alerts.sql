-- Alerts: the outbox of dead letters.

-- name: take
-- Takes alerts that are due, oldest first, with their letters; for $2 seconds nobody else
-- does. No row: none is due, or another has them.
WITH due AS MATERIALIZED (
    SELECT id FROM alerts WHERE due_at <= clock_timestamp() ORDER BY due_at, id LIMIT $1::integer
       FOR NO KEY UPDATE SKIP LOCKED
), taken AS (
    UPDATE alerts SET tries = tries + 1, due_at = clock_timestamp() + make_interval(secs => $2::float8)
      FROM due WHERE alerts.id = due.id
    RETURNING alerts.id, alerts.reason, alerts.tries, alerts.task_id, alerts.generation
)
SELECT taken.id AS alert_id, taken.reason, taken.tries, l.*
  FROM taken JOIN dead_letters l ON l.task_id = taken.task_id AND l.generation = taken.generation
 ORDER BY taken.id

-- name: forget
-- Removes alerts that were answered. No row: they are gone.
DELETE FROM alerts WHERE id = ANY($1::bigint[]) RETURNING id

-- name: postpone
-- Makes alerts due again after so many seconds each. No row: they are gone.
UPDATE alerts SET due_at = clock_timestamp() + make_interval(secs => p.seconds)
  FROM unnest($1::bigint[], $2::float8[]) AS p(id, seconds)
 WHERE alerts.id = p.id
RETURNING alerts.id

-- name: give_up
-- Removes alerts that are this old and were tried this often. No row: there are none.
DELETE FROM alerts WHERE id IN (
    SELECT id FROM alerts
     WHERE due_at <= clock_timestamp() AND tries >= $2::integer
       AND created_at < clock_timestamp() - make_interval(secs => $1::float8)
     ORDER BY due_at LIMIT $3::integer FOR NO KEY UPDATE SKIP LOCKED)
RETURNING task_id, tries
