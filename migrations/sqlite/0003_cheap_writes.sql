-- The number of the last event is that of the last row of the log, or the floor if all rows have been pruned.
-- A copy of it cost every commit a page.
ALTER TABLE tenant DROP COLUMN event_seq;

-- SQLite builds a temporary table for a list of more than two values each time it checks a row against it, and it
-- checks every row it writes. Alternatives cost nothing. What is stored stays as it is.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql,
    'state IN (''open'', ''sealed'', ''finished'', ''cancelled'')',
    'state = ''open'' OR state = ''sealed'' OR state = ''finished'' OR state = ''cancelled''')
  WHERE type = 'table' AND name = 'batch';
UPDATE sqlite_schema SET sql = replace(sql,
    'status IN (''in_progress'', ''completed'', ''failed'', ''skipped'', ''cancelled'')',
    'status = ''completed'' OR status = ''in_progress'' OR status = ''failed'' OR status = ''skipped'' OR status = ''cancelled''')
  WHERE type = 'table' AND name = 'ingestion';
UPDATE sqlite_schema SET sql = replace(sql,
    'state IN (''waiting'', ''queued'', ''held'', ''running'', ''done'', ''dead'', ''cancelled'', ''dropped'')',
    'state = ''done'' OR state = ''running'' OR state = ''queued'' OR state = ''waiting'' OR state = ''held'' OR state = ''dead'' OR state = ''cancelled'' OR state = ''dropped''')
  WHERE type = 'table' AND name = 'task';
PRAGMA writable_schema = RESET;
