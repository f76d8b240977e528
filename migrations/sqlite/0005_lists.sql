-- Lists are of one tenant, newest first, and so is the count of its documents; without this both looked at every document
-- there is, which took a second at 100,000.
CREATE INDEX document_list ON document (tenant_id, removed, document_id);
