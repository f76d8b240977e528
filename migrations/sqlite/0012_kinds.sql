-- What a document is, for lists: told by its words, and by its meaning where words told nothing. Each is written by its own
-- writer and by nobody else, so that neither has to know what the other is about to write.
ALTER TABLE document ADD COLUMN kind TEXT;
ALTER TABLE document ADD COLUMN judged_kind TEXT;
UPDATE document SET kind = (
  SELECT json_extract(u.body, '$.type') FROM ingestion i
    JOIN understanding u ON u.ingestion_id = i.ingestion_id AND u.step = i.understood_by
  WHERE i.ingestion_id = document.understood_in)
WHERE understood_in IS NOT NULL;
UPDATE document SET judged_kind = (
  SELECT json_extract(j.body, '$.type') FROM judgement j WHERE j.document_id = document.document_id)
WHERE document_id IN (SELECT document_id FROM judgement);
-- Lists of one kind, newest first.
CREATE INDEX document_kinds ON document (tenant_id, coalesce(kind, judged_kind), document_id)
  WHERE coalesce(kind, judged_kind) IS NOT NULL;
