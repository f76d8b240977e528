-- The number of the last event is that of the last row of the log, or the floor if all rows have been pruned: the
-- sequencer looks it up under its lock. A copy of it cost every fold a row.
ALTER TABLE tenant DROP COLUMN event_seq;
