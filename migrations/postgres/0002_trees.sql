-- Of an outermost container: what came out of it and of all containers inside it, so that archives inside
-- archives cannot multiply without end.
ALTER TABLE manifest ADD COLUMN tree_members bigint NOT NULL DEFAULT 0;
ALTER TABLE manifest ADD COLUMN tree_bytes   bigint NOT NULL DEFAULT 0;
