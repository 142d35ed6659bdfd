-- What a worker has done within the last hour, which it writes with its heartbeats: an object with the kinds of jobs as keys. Null
-- for a worker of an earlier version. Additive, and in no index, so a heartbeat is still a HOT update.
ALTER TABLE worker ADD COLUMN recent jsonb;
