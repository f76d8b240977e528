-- What was understood lies apart: every change of a status would copy it with its row.
CREATE TABLE understanding (
  ingestion_id uuid NOT NULL,
  step         text COLLATE "C" NOT NULL,
  tenant_id    uuid NOT NULL,
  body         text NOT NULL, -- JSON: summary, date, type, tags, labels, and how sure each is
  PRIMARY KEY (ingestion_id, step)
);
-- The step whose understanding holds.
ALTER TABLE ingestion ADD COLUMN understood_by text;
INSERT INTO understanding (ingestion_id, step, tenant_id, body)
  SELECT ingestion_id, 'extract-text', tenant_id, understanding FROM ingestion WHERE understanding IS NOT NULL;
UPDATE ingestion SET understood_by = 'extract-text' WHERE understanding IS NOT NULL;
ALTER TABLE ingestion DROP COLUMN understanding;

GRANT SELECT ON understanding TO docmill_reader;
ALTER TABLE understanding ENABLE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON understanding FOR SELECT TO docmill_reader
  USING (tenant_id = (SELECT current_setting('app.tenant')::uuid));
