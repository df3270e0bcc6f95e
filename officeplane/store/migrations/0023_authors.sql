-- Lists of what somebody asked for, newest first.
CREATE INDEX tasks_created_by ON tasks (created_by, seq) WHERE created_by IS NOT NULL;
CREATE INDEX tasks_on_behalf_of ON tasks (on_behalf_of, seq) WHERE on_behalf_of IS NOT NULL;
