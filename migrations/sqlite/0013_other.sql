-- What neither words nor meaning tell is `other`. It was kept as if words had told it, and so stood before what meaning tells;
-- now it is said by whoever looks.
UPDATE document SET kind = NULL WHERE kind = 'other';
DROP INDEX document_kinds;
CREATE INDEX document_kinds
  ON document (tenant_id, coalesce(kind, judged_kind, iif(understood_in IS NULL, NULL, 'other')), document_id)
  WHERE coalesce(kind, judged_kind, iif(understood_in IS NULL, NULL, 'other')) IS NOT NULL;
