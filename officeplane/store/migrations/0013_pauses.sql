-- What a breaker counts once: the documents, or else tasks, whose processes died since the
-- type last did well. Stale while `failures` is 0.
ALTER TABLE valves ADD COLUMN crashed_by text[] NOT NULL DEFAULT '{}';
