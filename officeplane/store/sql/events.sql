-- Events: what happened, in an order in which nothing is ever inserted before what was read.

-- part: is_younger
-- Whether a row was last changed by a transaction with a higher number than this one's, which
-- waited for that. Events are told in the order of these numbers.
age(xmin) < 0 AS is_younger

-- part: told
-- Tells what has `happened`: an event for each kind, in their turn, with all that it is about
-- and where: see `place`.
INSERT INTO events (kind, task_ids, document_ids)
    SELECT kind, array_agg(id), array_agg({place}) FROM happened GROUP BY turn, kind ORDER BY turn

-- name: after
-- Events after a position that no running transaction can still precede. No row: nothing new.
SELECT e.xid::text AS xid, e.id, e.at, e.kind, e.task_ids, e.document_ids, e.dag_id
  FROM events e
 WHERE (e.xid, e.id) > (:xid::text::xid8, :row::bigint) AND e.xid < pg_snapshot_xmin(pg_current_snapshot())
 ORDER BY e.xid, e.id LIMIT :limit::integer

-- name: horizon
-- The position that readers who want only what comes next begin at. Always one row.
SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS xid

-- name: is_held
-- Whether everything after a position is still there. Always one row; a position
-- from before the oldest event kept, or from another database, is not held. A
-- transaction has several rows, and pruning may stop between two of them.
SELECT coalesce((:xid::text::xid8, :row::bigint) >= (SELECT xid, id FROM events ORDER BY xid, id LIMIT 1), false)
       AND :xid::text::xid8 <= pg_snapshot_xmax(pg_current_snapshot()) AS held

-- name: prune
-- Removes old events, oldest first. No row: none is old enough.
DELETE FROM events WHERE (xid, id) IN (
    SELECT xid, id FROM events WHERE at < clock_timestamp() - make_interval(secs => :older_than_seconds::float8)
     ORDER BY xid, id LIMIT :limit::integer)
RETURNING id
