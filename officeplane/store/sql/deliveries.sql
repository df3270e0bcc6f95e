-- Deliveries: the outbox of what destinations outside are still to be told.

-- name: take
-- Takes what is due for a destination, oldest first; for $3 seconds nobody else does.
-- No row: nothing is due, or another has it.
WITH due AS MATERIALIZED (
    SELECT id FROM deliveries WHERE destination = $1::text AND due_at <= clock_timestamp()
     ORDER BY due_at, id LIMIT $2::integer
       FOR NO KEY UPDATE SKIP LOCKED
), taken AS (
    UPDATE deliveries SET tries = tries + 1, due_at = clock_timestamp() + make_interval(secs => $3::float8)
      FROM due WHERE deliveries.id = due.id
    RETURNING deliveries.id, deliveries.body, deliveries.tries
)
SELECT id, body, tries FROM taken ORDER BY id

-- name: forget
-- Removes what was answered. No row: it is gone.
DELETE FROM deliveries WHERE id = ANY($1::bigint[]) RETURNING id

-- name: postpone
-- Makes deliveries due again after so many seconds each. No row: they are gone.
UPDATE deliveries SET due_at = clock_timestamp() + make_interval(secs => p.seconds)
  FROM unnest($1::bigint[], $2::float8[]) AS p(id, seconds)
 WHERE deliveries.id = p.id
RETURNING deliveries.id

-- name: give_up
-- Removes what is this old and was tried this often for a destination. No row: there is nothing.
DELETE FROM deliveries WHERE id IN (
    SELECT id FROM deliveries
     WHERE destination = $1::text AND due_at <= clock_timestamp() AND tries >= $3::integer
       AND created_at < clock_timestamp() - make_interval(secs => $2::float8)
     ORDER BY due_at LIMIT $4::integer FOR NO KEY UPDATE SKIP LOCKED)
RETURNING id, body, tries
