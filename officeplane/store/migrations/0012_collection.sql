-- Collection: what the pruner looks for among what nobody needs any more.

CREATE INDEX dead_letters_resolved ON dead_letters (resolved_at) WHERE resolved_at IS NOT NULL;
CREATE INDEX dead_letters_undecided ON dead_letters (dead_lettered_at) WHERE resolved_at IS NULL;
CREATE INDEX documents_deleted ON documents (deleted_at) WHERE deleted_at IS NOT NULL;
