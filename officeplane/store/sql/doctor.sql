-- Doctor: how the server is set up, and work that nobody does.

-- name: server
-- Always one row: how this Postgres is set up, and what time it thinks it is.
SELECT current_setting('server_version_num')::integer AS version_num,
       current_setting('server_version') AS version,
       current_setting('fsync')::boolean AS fsync,
       current_setting('full_page_writes')::boolean AS full_page_writes,
       current_setting('synchronous_commit') AS synchronous_commit,
       current_setting('max_connections')::integer AS max_connections,
       (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend')::integer AS connections,
       pg_is_in_recovery() AS is_standby,
       current_user::text AS role,
       (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) AS is_superuser,
       coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_change_schema,
       clock_timestamp() AS now

-- name: orphaned_types
-- No row: every type that has tasks ready to run is known to a worker heard of lately.
SELECT task_type, count(*)::integer AS waiting
  FROM tasks
 WHERE runnable
   AND state IN {claimable}
   AND demand_id IS NULL
   AND task_type NOT IN (SELECT unnest(task_types) FROM workers
                          WHERE last_seen_at > clock_timestamp() - make_interval(secs => :within_seconds::float8))
 GROUP BY task_type
 ORDER BY waiting DESC, task_type

-- name: leaders
-- No row: no worker has ever led the chores. `leads` is false when the last one's time ran out.
SELECT chore, worker_id, until > clock_timestamp() AS leads
  FROM chore_leaders
 ORDER BY chore

-- name: overdue_leases
-- Always one row: how many attempts should have been taken from their worker a while ago.
SELECT count(*)::integer AS overdue
  FROM tasks
 WHERE runnable
   AND state IN {active}
   AND lease_until < clock_timestamp() - make_interval(secs => :for_seconds::float8)

-- name: unresolved_letters
-- No row: every dead letter is resolved. The most frequent cause, and how many there are in all.
SELECT fingerprint, min(task_type) AS task_type, count(*)::integer AS letters,
       (sum(count(*)) OVER ())::integer AS in_all
  FROM dead_letters
 WHERE resolved_at IS NULL
 GROUP BY fingerprint
 ORDER BY letters DESC, fingerprint
 LIMIT 1

-- name: undelivered_alerts
-- Always one row: how many alerts were tried more than so many times and are still not answered.
SELECT count(*)::integer AS alerts FROM deliveries WHERE destination = 'alerts' AND tries > :tries::integer

-- name: held_back
-- No row: nothing is paused, and every breaker is closed.
SELECT 'type' AS what, task_type AS name, CASE WHEN paused THEN 'paused' ELSE 'breaker ' || breaker END AS how
  FROM valves WHERE paused OR breaker <> 'closed'
UNION ALL
SELECT 'document', document_id, 'paused' FROM paused_documents
 ORDER BY what DESC, name
