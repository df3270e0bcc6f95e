-- Names: what the nodes of an upload are called that are those of the revision before it.

-- As formats write them; null where the file's own ids are theirs.
ALTER TABLE revisions ADD COLUMN names bytea;
