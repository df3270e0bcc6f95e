-- Deliveries: the outbox of what destinations outside are still to be told.

-- name: take
-- Takes what is due for a destination, oldest first; for a while nobody else does.
-- No row: nothing is due, or another has it.
WITH due AS MATERIALIZED (
    SELECT id FROM deliveries WHERE destination = :destination::text AND due_at <= clock_timestamp()
     ORDER BY due_at, id LIMIT :limit::integer
       FOR NO KEY UPDATE SKIP LOCKED
), taken AS (
    UPDATE deliveries SET tries = tries + 1, due_at = clock_timestamp() + make_interval(secs => :for_seconds::float8)
      FROM due WHERE deliveries.id = due.id
    RETURNING deliveries.id, deliveries.body, deliveries.tries
)
SELECT id, body, tries FROM taken ORDER BY id

-- name: forget
-- Removes what was answered. No row: it is gone.
DELETE FROM deliveries WHERE id = ANY(:delivery_ids::bigint[]) RETURNING id

-- name: postpone
-- Makes deliveries due again after so many seconds each. No row: they are gone.
UPDATE deliveries SET due_at = clock_timestamp() + make_interval(secs => p.seconds)
  FROM unnest(:delivery_ids::bigint[], :seconds::float8[]) AS p(id, seconds)
 WHERE deliveries.id = p.id
RETURNING deliveries.id

-- name: give_up
-- Removes what is this old and was tried this often for a destination. No row: there is nothing.
DELETE FROM deliveries WHERE id IN (
    SELECT id FROM deliveries
     WHERE destination = :destination::text AND due_at <= clock_timestamp() AND tries >= :tries::integer
       AND created_at < clock_timestamp() - make_interval(secs => :after_seconds::float8)
     ORDER BY due_at LIMIT :limit::integer FOR NO KEY UPDATE SKIP LOCKED)
RETURNING id, body, tries
