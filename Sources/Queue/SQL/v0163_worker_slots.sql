-- How many jobs a worker performs at the same time, in all its queues; NULL: it is one of an earlier version.
ALTER TABLE worker ADD COLUMN slots int;
