-- Pieces: the stretches that documents' files are made of. No other file names their table.

-- part: piece_of
-- Of a document, whose name is to follow, with its table's: something of it is still kept.
SELECT FROM pieces WHERE pieces.document_id =

-- part: pieces_kept
-- Keeps the pieces that go along with the statement, of documents that it has `added` revisions to.
INSERT INTO pieces (document_id, key, bytes)
SELECT p.document_id, p.key, p.bytes
  FROM unnest(:piece_document_ids::text[], :piece_keys::bytea[], :pieces::bytea[]) AS p(document_id, key, bytes)
 WHERE p.document_id IN (SELECT document_id FROM added)
ON CONFLICT DO NOTHING

-- name: keep
-- Keeps stretches of files. No row: all of them were there.
INSERT INTO pieces (document_id, key, bytes)
SELECT * FROM unnest(:piece_document_ids::text[], :piece_keys::bytea[], :pieces::bytea[]) ON CONFLICT DO NOTHING

-- name: fetch
-- Stretches by key. No row for a key: the document was deleted.
SELECT key, bytes FROM pieces WHERE document_id = :document_id::text AND key = ANY(:keys::bytea[])

-- name: keys
-- Which pieces there are of a document. No row: none.
SELECT key FROM pieces WHERE document_id = :document_id::text

-- name: drop
-- Removes pieces that nothing names. No row: they are gone already.
DELETE FROM pieces WHERE document_id = :document_id::text AND key = ANY(:keys::bytea[])

-- name: forget
-- Removes what a deleted document was made of. No row: nothing is left.
DELETE FROM pieces WHERE document_id = :document_id::text

-- name: bytes_of_space
-- How many bytes a space's documents take as they are kept. Always one row.
SELECT coalesce(sum(p.bytes), 0)::bigint AS count
  FROM documents d,
       LATERAL (SELECT sum(octet_length(bytes)) AS bytes FROM pieces WHERE pieces.document_id = d.id OFFSET 0) p
 WHERE d.space = :space::text

-- name: bytes_of_caller
-- How many bytes those of a space's documents that somebody has made take as they are kept. Always one row.
SELECT coalesce(sum(p.bytes), 0)::bigint AS count
  FROM documents d,
       LATERAL (SELECT sum(octet_length(bytes)) AS bytes FROM pieces WHERE pieces.document_id = d.id OFFSET 0) p
 WHERE d.space = :space::text AND d.made_by = :caller::text AND d.deleted_at IS NULL
