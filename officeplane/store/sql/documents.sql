-- Documents: heads, and who may move them.

-- part: columns
d.id, d.seq, d.format, d.title, d.head, d.created_at, d.updated_at, r.sha256, r.size,
(SELECT p.paused_at FROM paused_documents p WHERE p.document_id = d.id) AS paused_at,
(SELECT count(*) FROM tasks t WHERE t.document_id = d.id AND t.runnable AND t.state IN {claimable}) AS queued,
(SELECT count(*) FROM tasks t WHERE t.document_id = d.id AND t.runnable AND t.state IN {active}) AS running

-- name: create
-- Makes a document, or brings a deleted one back with its numbers going on. No row: it exists.
INSERT INTO documents AS d (id, space, format, title, head, created_by, made_by)
VALUES (:document_id::text, :space::text, :format::text, :title::text, 0, :created_by::text, :made_by::text)
ON CONFLICT (id) DO UPDATE SET format = excluded.format, title = excluded.title, created_by = excluded.created_by,
                               made_by = excluded.made_by, created_at = clock_timestamp(), updated_at = clock_timestamp(), deleted_at = NULL
 WHERE d.deleted_at IS NOT NULL
RETURNING d.head

-- name: show
-- Documents by id, with what waits for them. No row: never there, or deleted.
SELECT {columns} FROM documents d JOIN revisions r ON r.document_id = d.id AND r.revision = d.head
 WHERE d.id = :document_id::text AND d.deleted_at IS NULL

-- name: page
-- One page of documents, newest first; if so asked, only of those that are not paused. No row: the page is past the end.
SELECT {columns} FROM documents d JOIN revisions r ON r.document_id = d.id AND r.revision = d.head
 WHERE d.deleted_at IS NULL AND d.seq < :before::bigint
   AND (NOT :but_paused::boolean OR NOT EXISTS ({pause_of} d.id OFFSET 0)) AND {visible_documents}
 ORDER BY d.seq DESC LIMIT :limit::integer

-- name: paused
-- One page of what is paused, the latest pause first: documents, and lanes of names that no
-- document has, which have no format. No row: the page is past the end.
SELECT p.document_id AS id, p.seq, p.paused_at, d.format, d.title, d.head, d.created_at, d.updated_at, r.sha256, r.size,
       (SELECT count(*) FROM tasks t WHERE t.document_id = p.document_id AND t.runnable AND t.state IN {claimable}) AS queued,
       (SELECT count(*) FROM tasks t WHERE t.document_id = p.document_id AND t.runnable AND t.state IN {active}) AS running
  FROM paused_documents p
  LEFT JOIN (documents d JOIN revisions r ON r.document_id = d.id AND r.revision = d.head AND d.deleted_at IS NULL)
    ON d.id = p.document_id
 WHERE p.seq < :before::bigint AND (:seen_space::text IS NULL OR p.space = :seen_space::text)
   AND (:seen_documents::text[] IS NULL OR p.document_id LIKE ANY(:seen_documents::text[]))
 ORDER BY p.seq DESC LIMIT :limit::integer

-- name: formats
-- The formats of documents. No row: no such document.
SELECT id, format FROM documents WHERE id = ANY(:document_ids::text[]) AND deleted_at IS NULL

-- name: lock
-- Locks documents in order and tells their heads. No row: never there, or deleted.
SELECT id, head FROM documents WHERE id = ANY(:document_ids::text[]) AND deleted_at IS NULL ORDER BY id FOR NO KEY UPDATE

-- name: revise
-- Adds revisions, moves the heads and tells of it. The caller holds the documents' locks
-- and has compared the heads. No row: never.
WITH given AS MATERIALIZED (
    SELECT * FROM unnest(:revision_document_ids::text[], :bases::bigint[], :revision_task_ids::uuid[],
                         :revision_task_types::text[], :authors::text[], :notes::text[], :sha256s::text[],
                         :sizes::bigint[], :recipes::bytea[], :titles::text[], :names::bytea[])
           AS g(document_id, base, task_id, task_type, author, note, sha256, size, recipe, title, names)
), added AS (
    INSERT INTO revisions (document_id, revision, base, task_id, task_type, author, note, sha256, size, recipe, title,
                           names)
    SELECT document_id, base + 1, base, task_id, task_type, author, note, sha256, size, recipe, title, names
      FROM given
), moved AS (
    UPDATE documents d SET head = given.base + 1, updated_at = clock_timestamp(),
           title = nullif(coalesce(given.title, d.title), '')
      FROM given WHERE d.id = given.document_id
), happened AS (
    SELECT 1 AS turn, 'document.revised' AS kind, task_id AS id, document_id, NULL::text AS space FROM given
)
{told}

-- name: head
-- What an edit starts from: the head, and on which condition. No row: no such document.
SELECT d.format, d.head, r.sha256, r.recipe, r.names, coalesce(t.on_behalf_of, t.created_by) AS author,
       c.base_revision, c.on_conflict
  FROM documents d
  JOIN revisions r ON r.document_id = d.id AND r.revision = d.head
  LEFT JOIN tasks t ON t.id = :task_id::uuid
  LEFT JOIN edit_conditions c ON c.task_id = t.id
 WHERE d.id = :document_id::text AND d.deleted_at IS NULL

-- name: revision
-- One revision, the head if none is named. No row: no such revision, or no such document.
SELECT d.format, r.revision, r.base, r.task_id, r.task_type, r.author, r.note, r.sha256, r.size, r.recipe, r.names,
       r.created_at
  FROM documents d JOIN revisions r ON r.document_id = d.id AND r.revision = coalesce(:revision::bigint, d.head)
 WHERE d.id = :document_id::text AND d.deleted_at IS NULL

-- name: history
-- Revisions, newest first. No row: no such document, or the page is past the end.
SELECT r.revision, r.base, r.task_id, r.task_type, r.author, r.note, r.sha256, r.size, r.created_at
  FROM documents d JOIN revisions r ON r.document_id = d.id
 WHERE d.id = :document_id::text AND d.deleted_at IS NULL AND r.revision < :before::bigint AND r.revision > :after::bigint
 ORDER BY r.revision DESC LIMIT :limit::integer

-- name: title_as_of
-- What a document's file called itself as of a revision. No row: nobody has looked.
SELECT title FROM revisions WHERE document_id = :document_id::text AND revision <= :revision::bigint AND title IS NOT NULL
 ORDER BY revision DESC LIMIT 1

-- name: stage_upload
-- Keeps a file that waits for its turn. No row: never.
INSERT INTO uploads (id, document_id, if_match, sha256, size, recipe, title)
VALUES (:upload_id::uuid, :document_id::text, :if_match::bigint, :sha256::text, :size::bigint, :recipe::bytea,
        :title::text)

-- name: upload
-- A file that waits for its turn. No row: it was thrown away.
SELECT if_match, sha256, size, recipe, title FROM uploads WHERE id = :upload_id::uuid AND document_id = :document_id::text

-- part: abandoned_now
-- Whether an upload `u` waits for nothing any more.
u.created_at < clock_timestamp() - make_interval(secs => :older_than_seconds::float8)
AND NOT EXISTS (SELECT FROM tasks t WHERE t.document_id = u.document_id AND t.task_type = 'upload'
                   AND t.state IN {unfinished} AND t.payload ->> 'uploadId' = u.id::text)

-- name: prune_uploads
-- Throws away uploads that wait for nothing any more and became revisions as they were: their pieces
-- are these revisions' pieces. No row: none is old enough.
DELETE FROM uploads u
 WHERE {abandoned_now}
   AND EXISTS (SELECT FROM revisions r
                WHERE r.document_id = u.document_id AND r.sha256 = u.sha256 AND r.recipe = u.recipe)
RETURNING id

-- name: abandoned
-- Documents with uploads that wait for nothing any more and became no revision. No row: there are none.
SELECT document_id FROM uploads u WHERE {abandoned_now} GROUP BY document_id ORDER BY min(created_at) LIMIT :limit::integer

-- name: prune_abandoned
-- Throws away the uploads of a document that wait for nothing any more. No row: somebody else did.
DELETE FROM uploads u WHERE {abandoned_now} AND u.document_id = :document_id::text RETURNING id

-- name: hold
-- Keeps the collector away from a document's pieces while more are kept. No row: never there, or deleted.
SELECT id FROM documents WHERE id = :document_id::text AND deleted_at IS NULL FOR KEY SHARE

-- name: lock_out
-- Keeps waiting whoever is about to add to a document, deleted or not. No row: somebody is at it already,
-- whom those would have to wait for as well who came later.
SELECT id FROM documents WHERE id = :document_id::text FOR UPDATE SKIP LOCKED

-- name: recipes_after
-- What revisions above a number are made of, a window of them. No row: there are none.
SELECT revision, recipe FROM revisions WHERE document_id = :document_id::text AND revision > :revision::bigint
 ORDER BY revision LIMIT :limit::integer

-- name: recipes_of_uploads
-- What the files are made of that wait for their turn in a lane. No row: none waits.
SELECT recipe FROM uploads WHERE document_id = :document_id::text

-- name: forget_deleted
-- Forgets documents that were deleted long ago, of which nothing is left: their numbers begin
-- again if the id is used once more. No row: none is old enough.
DELETE FROM documents d
 WHERE d.id IN (SELECT o.id FROM documents o
                 WHERE o.deleted_at < clock_timestamp() - make_interval(secs => :older_than_seconds::float8)
                   AND NOT EXISTS ({piece_of} o.id)
                   AND NOT EXISTS (SELECT FROM uploads u WHERE u.document_id = o.id)
                   AND NOT EXISTS (SELECT FROM tasks t
                                    WHERE t.document_id = o.id AND t.runnable AND t.state IN {unfinished})
                 ORDER BY o.deleted_at LIMIT :limit::integer FOR UPDATE SKIP LOCKED)
   AND d.deleted_at IS NOT NULL
RETURNING d.id

-- name: remember_conditions
-- Keeps what edits were based on. No row: never.
INSERT INTO edit_conditions (task_id, base_revision, on_conflict)
SELECT * FROM unnest(:task_ids::uuid[], :base_revisions::bigint[], :on_conflicts::text[])

-- name: waiting
-- The unfinished tasks of a lane, those that run included. No row: nobody waits.
SELECT id FROM tasks WHERE document_id = :document_id::text AND runnable AND state IN {unfinished} ORDER BY seq DESC

-- name: delete
-- Deletes a document; its numbers are kept, so that none comes back. No row: no such document.
UPDATE documents SET deleted_at = clock_timestamp() WHERE id = :document_id::text AND deleted_at IS NULL RETURNING id

-- name: end_pause
-- Ends the pause of a deleted document. No row: it was not paused.
DELETE FROM paused_documents WHERE document_id = :document_id::text

-- name: forget_revisions
-- Removes the history of a deleted document. No row: it had none.
DELETE FROM revisions WHERE document_id = :document_id::text

-- name: forget_uploads
-- Removes the files that waited for their turn in a deleted document's lane: their pieces are gone. No row: none did.
DELETE FROM uploads WHERE document_id = :document_id::text
