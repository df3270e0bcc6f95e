-- Sights: what of the ledger a caller may see. What is outside is not there for it.

-- part: visible
-- Of a task, or of what tells of one: the caller may see it. What has no document fits the empty pattern only.
(:seen_space::text IS NULL OR space = :seen_space::text)
AND (:seen_documents::text[] IS NULL OR coalesce(document_id, '') LIKE ANY(:seen_documents::text[]))
AND (:seen_types::text[] IS NULL OR task_type LIKE ANY(:seen_types::text[]))

-- part: visible_types
-- Of what is counted or held by type and space: the caller may see it.
(:seen_space::text IS NULL OR space = :seen_space::text)
AND (:seen_types::text[] IS NULL OR task_type LIKE ANY(:seen_types::text[]))

-- part: visible_documents
-- Of a document `d`: the caller may see it.
(:seen_space::text IS NULL OR d.space = :seen_space::text)
AND (:seen_documents::text[] IS NULL OR d.id LIKE ANY(:seen_documents::text[]))

-- part: visible_dags
-- Of a DAG `g`: the caller may see it, which is so if it may see all of its tasks.
(:seen_space::text IS NULL OR g.space = :seen_space::text)
AND (:seen_documents::text[] IS NULL AND :seen_types::text[] IS NULL
     OR NOT EXISTS (SELECT FROM tasks WHERE dag_id = g.id AND NOT ({visible})))

-- part: space_inside
-- Of a type as it is called inside: its space.
CASE WHEN strpos(task_type, '/') = 0 THEN 'default' ELSE split_part(task_type, '/', 1) END

-- part: bare_type
-- Of a type as it is called inside: what those who call know it as.
split_part(task_type, '/', -1)

-- part: place
-- Where something happened: its document, or else its space, if that is not the default one.
coalesce(document_id, nullif(space, 'default') || '/')
