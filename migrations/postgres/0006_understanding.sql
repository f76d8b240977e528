-- What a document is and says, found out from its text: summary, date, type, tags, labels, and how sure each is.
ALTER TABLE ingestion ADD COLUMN understanding text; -- JSON
-- Of the newest ingestion that found it out: one that found nothing does not take it away.
ALTER TABLE document ADD COLUMN understood_in uuid;
-- What was understood so little that nobody can say what it is called.
CREATE INDEX document_unclassified ON document (tenant_id, document_id) WHERE title IS NULL AND understood_in IS NOT NULL;
-- Lists of one media type: without this a rare one is looked for among all documents.
CREATE INDEX document_types ON document (tenant_id, removed, media_type, document_id) WHERE media_type IS NOT NULL;
