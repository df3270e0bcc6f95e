-- Audit: who has changed what, from where.

-- part: audited
-- Keeps what callers did, in any statement that does it. There are no arrays of arrays of different lengths: the ids
-- of tasks come as texts.
INSERT INTO audit (space, caller, kind, on_behalf_of, key_id, address, action, target, task_ids, before, after)
SELECT d.space, d.caller, d.kind, d.on_behalf_of, d.key_id, d.address, d.action, d.target, d.task_ids::uuid[],
       d.before::jsonb, d.after::jsonb
  FROM unnest(:audit_spaces::text[], :audit_callers::text[], :audit_kinds::text[], :audit_on_behalf_of::text[],
              :audit_key_ids::uuid[], :audit_addresses::text[], :audit_actions::text[], :audit_targets::text[],
              :audit_task_ids::text[], :audit_before::text[], :audit_after::text[])
           AS d(space, caller, kind, on_behalf_of, key_id, address, action, target, task_ids, before, after)

-- name: write
-- Keeps what callers did. Always a row for each.
{audited} RETURNING seq

-- part: deed_place
-- Where a page begins: at the last of the page before, which may be gone by now, with all that follows it.
coalesce((SELECT c.at FROM audit c WHERE c.seq = :before::bigint AND c.space = :space::text),
         CASE WHEN :before::bigint = 9223372036854775807 THEN 'infinity'::timestamptz ELSE '-infinity'::timestamptz END)

-- part: deed_shown
seq, at, space, caller, kind, on_behalf_of, key_id, address, action, target, before::text AS before, after::text AS after,
task_ids[1:100] AS task_ids, coalesce(cardinality(task_ids), 0) AS tasks

-- part: deed_fits
    space = :space::text AND (at, seq) < ({deed_place}, :before::bigint)
AND (:caller::text IS NULL OR caller = :caller::text)
AND (:action::text IS NULL OR action = :action::text)
AND (:since::timestamptz IS NULL OR at >= :since::timestamptz)
AND (:until::timestamptz IS NULL OR at < :until::timestamptz)

-- name: page
-- What was done in a space, the latest first. No row: nothing fits, or the page is past the end.
SELECT {deed_shown} FROM audit WHERE {deed_fits} ORDER BY at DESC, seq DESC LIMIT :limit::integer

-- name: page_of_target
-- The same of one target, which may be a task among others: what stored it was done about when its id was made. No row:
-- nothing fits, or the page is past the end.
WITH of_tasks AS MATERIALIZED (
    SELECT * FROM audit WHERE task_ids @> ARRAY[:task_id::uuid] AND action NOT IN ('task.submit', 'dag.submit', 'dag.add')
), stored AS MATERIALIZED (
    SELECT * FROM audit
     WHERE space = :space::text AND at BETWEEN :earliest::timestamptz AND :latest::timestamptz
       AND action IN ('task.submit', 'dag.submit', 'dag.add') AND task_ids @> ARRAY[:task_id::uuid]
), of_others AS (
    SELECT * FROM audit WHERE target = :target::text AND {deed_fits} ORDER BY at DESC, seq DESC LIMIT :limit::integer
)
SELECT {deed_shown} FROM (SELECT * FROM of_tasks WHERE {deed_fits} UNION ALL SELECT * FROM stored WHERE {deed_fits}
                     UNION ALL SELECT * FROM of_others) audit
 ORDER BY at DESC, seq DESC LIMIT :limit::integer
