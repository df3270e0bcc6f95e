-- What waits in spaces other than the default one: polled by space, and counted where a quota is set.
-- An installation that has no others keeps nothing in these.
CREATE INDEX tasks_of_other_spaces ON tasks (space, rank, seq)
    WHERE space <> 'default' AND runnable AND state IN ('QUEUED', 'RETRYING');
CREATE INDEX tasks_waiting_in_spaces ON tasks (space)
    WHERE space <> 'default' AND state IN ('PENDING', 'QUEUED', 'RETRYING');

-- What spaces may use, where somebody has said so; null: as much as it likes.
CREATE TABLE spaces (
    name                       text PRIMARY KEY,
    max_waiting_tasks          bigint CHECK (max_waiting_tasks >= 0),
    max_documents              bigint CHECK (max_documents >= 0),
    max_bytes                  bigint CHECK (max_bytes >= 0),
    max_revisions_per_document bigint CHECK (max_revisions_per_document >= 0),
    submissions_per_minute     bigint CHECK (submissions_per_minute >= 0),
    uploads_per_minute         bigint CHECK (uploads_per_minute >= 0),
    max_streams                bigint CHECK (max_streams >= 0),
    max_waits                  bigint CHECK (max_waits >= 0)
);

-- Who called when a document was made: keys have quotas, too.
ALTER TABLE documents ADD COLUMN made_by text;
CREATE INDEX documents_made_by ON documents (made_by) WHERE made_by IS NOT NULL AND deleted_at IS NULL;
