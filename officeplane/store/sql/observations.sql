-- Observations: what workers have measured, in buckets.

-- name: add
-- Adds a worker's report. No row for a bucket: this report is in it already, its
-- answer was lost and it was sent again.
INSERT INTO observations AS o (counted_by, measure, task_type, up_to, count, seconds, report)
SELECT :counted_by::text, r.measure, r.task_type, r.up_to, r.count, r.seconds, :report::bigint
  FROM unnest(:measures::text[], :task_types::text[], :up_tos::float8[], :counts::bigint[], :seconds::float8[])
           AS r(measure, task_type, up_to, count, seconds)
ON CONFLICT (counted_by, measure, task_type, up_to) DO UPDATE
   SET count = o.count + excluded.count, seconds = o.seconds + excluded.seconds, report = excluded.report
 WHERE o.report < excluded.report
RETURNING up_to

-- name: totals
-- What all workers have measured so far. No row: nothing.
SELECT measure, task_type, up_to, sum(count)::bigint AS count, sum(seconds) AS seconds
  FROM observations GROUP BY 1, 2, 3 ORDER BY 1, 2, 3

-- name: fold
-- Puts what workers that are off the list have measured into one row for each bucket. Always one row.
WITH folded AS (
    DELETE FROM observations o WHERE counted_by <> '' AND NOT EXISTS (SELECT FROM workers w WHERE w.id = o.counted_by)
    RETURNING measure, task_type, up_to, count, seconds
), kept AS (
    INSERT INTO observations AS o (counted_by, measure, task_type, up_to, count, seconds, report)
    SELECT '', measure, task_type, up_to, sum(count), sum(seconds), 0 FROM folded GROUP BY 2, 3, 4
    ON CONFLICT (counted_by, measure, task_type, up_to) DO UPDATE
       SET count = o.count + excluded.count, seconds = o.seconds + excluded.seconds
)
SELECT count(*) AS folded FROM folded
