-- Lists are of one tenant, newest first, and so is the count of its documents; without this both looked at every document
-- there is, which took a second at 100,000.
CREATE INDEX document_list ON document (tenant_id, removed, document_id);
-- Lists of one state: nearly all documents are ready, and the others are found without looking at those.
CREATE INDEX ingestion_open ON ingestion (tenant_id, document_id) WHERE status = 'in_progress';
CREATE INDEX ingestion_failed ON ingestion (tenant_id, document_id) WHERE status = 'failed' OR status = 'cancelled';
CREATE INDEX ingestion_unsupported ON ingestion (tenant_id, document_id) WHERE result = 'UNSUPPORTED';
CREATE INDEX document_review ON document (tenant_id, document_id) WHERE needs_review;
