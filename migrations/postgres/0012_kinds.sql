-- What a document is, for lists: told by its words, and by its meaning where words told nothing. Each is written by its own
-- writer and by nobody else, so that neither has to know what the other is about to write.
ALTER TABLE document ADD COLUMN kind text;
ALTER TABLE document ADD COLUMN judged_kind text;
-- JSON may hold an escaped NUL, and text may not.
UPDATE document d SET kind = replace(u.body, '\u0000', '\ufffd')::json ->> 'type'
FROM ingestion i JOIN understanding u ON u.ingestion_id = i.ingestion_id AND u.step = i.understood_by
WHERE i.ingestion_id = d.understood_in;
UPDATE document d SET judged_kind = replace(j.body, '\u0000', '\ufffd')::json ->> 'type'
FROM judgement j WHERE j.document_id = d.document_id;
-- Lists of one kind, newest first. No coalesce: to the planner that may tell rows of other tenants, and under row-level
-- security it looks up nothing in an index before it knows whose row it is.
CREATE INDEX document_kinds ON document (tenant_id, (CASE WHEN kind IS NULL THEN judged_kind ELSE kind END), document_id)
  WHERE CASE WHEN kind IS NULL THEN judged_kind ELSE kind END IS NOT NULL;
