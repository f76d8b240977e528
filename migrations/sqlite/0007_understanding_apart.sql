-- What was understood lies apart. Rows of a table WITHOUT ROWID that are longer than a quarter of a page take a page of
-- their own each, and every change of a status would copy it.
CREATE TABLE understanding (
  ingestion_id BLOB NOT NULL REFERENCES ingestion,
  step         TEXT NOT NULL,
  tenant_id    BLOB NOT NULL REFERENCES tenant,
  body         TEXT NOT NULL, -- JSON: summary, date, type, tags, labels, and how sure each is
  PRIMARY KEY (ingestion_id, step)
) STRICT;
-- The step whose understanding holds.
ALTER TABLE ingestion ADD COLUMN understood_by TEXT;
INSERT INTO understanding (ingestion_id, step, tenant_id, body)
  SELECT ingestion_id, 'extract-text', tenant_id, understanding FROM ingestion WHERE understanding IS NOT NULL;
UPDATE ingestion SET understood_by = 'extract-text' WHERE understanding IS NOT NULL;
ALTER TABLE ingestion DROP COLUMN understanding;
