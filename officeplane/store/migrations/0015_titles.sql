-- Titles: what a file calls itself, which the document's title follows.

-- As of this revision; empty for none, null where it is as in the revision before.
ALTER TABLE revisions ADD COLUMN title text;
ALTER TABLE uploads ADD COLUMN title text;
