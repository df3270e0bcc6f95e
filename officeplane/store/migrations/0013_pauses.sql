-- What a breaker counts once: the documents, or else tasks, whose processes died since the
-- type last did well. Stale while `failures` is 0.
ALTER TABLE valves ADD COLUMN crashed_by text[] NOT NULL DEFAULT '{}';

-- In which order documents were paused: their list is read from the newest on.
ALTER TABLE paused_documents ADD COLUMN seq bigint GENERATED ALWAYS AS IDENTITY;
CREATE UNIQUE INDEX paused_documents_in_order ON paused_documents (seq);
