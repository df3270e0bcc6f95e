-- Agents: who they are, and what they hold.

-- part: agent
a.id, a.space, a.kind, a.title, a.capabilities, a.task_types, a.models, a.max_concurrent_tasks, a.version,
a.heartbeat_seconds, a.start_seconds, a.status, a.held_by, a.registered_by, a.registered_at, a.last_seen_at

-- part: visible_agents
-- Of an agent `a`: the caller may see it.
a.space = :seen_space::text AND (:seen_agents::text[] IS NULL OR a.id LIKE ANY(:seen_agents::text[]))

-- part: with_its_day
-- Of an agent `a`: whether it was silent for too long, what it holds, and what became of its claims of this day.
a.last_seen_at < clock_timestamp() - make_interval(secs => :silent_seconds::float8) AS is_silent,
(SELECT count(*) FROM agent_claims c WHERE c.agent_id = a.id AND c.ended_at IS NULL) AS current_tasks, day.*

-- part: day_of_agent
(SELECT count(*) AS claims, count(*) FILTER (WHERE c.ended_as = 'COMPLETED') AS completed,
        count(*) FILTER (WHERE c.ended_as IN ('RETRYING', 'FAILED', 'TIMEOUT')) AS failed,
        sum(c.cost_micros)::bigint AS cost_micros
   FROM agent_claims c
  WHERE c.agent_id = a.id AND c.claimed_at >= date_trunc('day', clock_timestamp() AT TIME ZONE 'UTC') AT TIME ZONE 'UTC')

-- name: page
-- Agents by id, after one, as they stand. No row: there are no more.
SELECT {agent}, {with_its_day}
  FROM agents a, LATERAL {day_of_agent} day
 WHERE {visible_agents} AND a.id > :after::text
 ORDER BY a.id LIMIT :limit::integer

-- name: fetch
-- One agent as it stands. No row: there is none of this id for this caller.
SELECT {agent}, {with_its_day}
  FROM agents a, LATERAL {day_of_agent} day
 WHERE {visible_agents} AND a.id = :agent_id::text

-- name: lock
-- One agent, which nobody else changes, and who claims nothing, until the transaction ends. No row: there is none.
SELECT {agent} FROM agents a WHERE a.id = :agent_id::text FOR NO KEY UPDATE

-- name: greet
-- The same, and notes that it was heard of. No row: there is none.
UPDATE agents a SET last_seen_at = clock_timestamp() WHERE a.id = :agent_id::text RETURNING {agent}

-- name: register
-- Adds an agent, or puts it in the place of what it was. It is active again unless a person has paused it. Always one row.
INSERT INTO agents AS a (id, space, kind, title, capabilities, task_types, models, max_concurrent_tasks, version,
                         heartbeat_seconds, start_seconds, registered_by)
VALUES (:agent_id::text, :space::text, :kind::text, :title::text, :capabilities::text[], :task_types::text[],
        :models::text[], :max_concurrent_tasks::smallint, :version::text, :heartbeat_seconds::float8,
        :start_seconds::float8, :registered_by::text)
ON CONFLICT (id) DO UPDATE SET kind = excluded.kind, title = excluded.title, capabilities = excluded.capabilities,
    task_types = excluded.task_types, models = excluded.models, max_concurrent_tasks = excluded.max_concurrent_tasks,
    version = excluded.version, heartbeat_seconds = excluded.heartbeat_seconds, start_seconds = excluded.start_seconds,
    registered_by = excluded.registered_by, registered_at = clock_timestamp(), last_seen_at = clock_timestamp(),
    status = CASE WHEN a.held_by = 'person' THEN a.status ELSE 'active' END,
    held_by = CASE WHEN a.held_by = 'person' THEN 'person' END, lapses_in_row = 0
RETURNING id

-- name: set_status
-- Has an agent claim, or claim no more. No row: there is none.
UPDATE agents SET status = :status::text, held_by = :held_by::text,
       lapses_in_row = CASE WHEN :status::text = 'active' THEN 0 ELSE lapses_in_row END
 WHERE id = :agent_id::text RETURNING id

-- name: remove
-- Removes an agent, and what it was given under which key. No row: there is none.
WITH forgotten AS (
    DELETE FROM agent_claim_keys WHERE agent_id = :agent_id::text
)
DELETE FROM agents WHERE id = :agent_id::text RETURNING id

-- name: count
-- How many agents a space has, or how many of those that somebody has registered. Always one row.
SELECT count(*) AS count FROM agents
 WHERE space = :space::text AND (:caller::text IS NULL OR registered_by = :caller::text)

-- name: count_held
-- How many claims an agent holds. Always one row.
SELECT count(*) AS count FROM agent_claims WHERE agent_id = :agent_id::text AND ended_at IS NULL

-- name: held
-- What an agent holds, or of that what it has under these claims, in the order in which it was claimed. No row: nothing.
SELECT {attempt}, lease_until, (SELECT model FROM agent_claims c WHERE c.claim_id = tasks.claim_id) AS model
  FROM tasks
 WHERE worker_id = :worker_id::text AND runnable AND state IN {active}
   AND (:claim_ids::uuid[] IS NULL OR claim_id = ANY(:claim_ids::uuid[]))
 ORDER BY claim_id

-- name: claimed_under
-- The claims that an agent was given under a key. No row: the key is new.
SELECT claim_ids FROM agent_claim_keys WHERE agent_id = :agent_id::text AND key = :key::text

-- name: keep_key
-- Keeps what an agent was given under a key. Always one row.
INSERT INTO agent_claim_keys (agent_id, key, claim_ids) VALUES (:agent_id::text, :key::text, :claim_ids::uuid[])
RETURNING key
