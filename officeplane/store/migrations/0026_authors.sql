-- Lists of what somebody asked for, newest first. What nobody put a name to costs nothing.
CREATE INDEX tasks_created_by ON tasks (created_by, seq) WHERE created_by IS NOT NULL;
