-- What is not a job's own fault costs it no attempt. Additive, and no table is written anew.

-- How often it was lost with its worker and takes the blame: it was in a stage that can break a worker, alone, and no other
-- job was lost at the time.
ALTER TABLE job ADD COLUMN blamed smallint NOT NULL DEFAULT 0;
-- Since when something that is not its fault keeps it from being done; nil: nothing does. After a day it is given up.
ALTER TABLE job ADD COLUMN postponed_at timestamptz;
ALTER TABLE job_dead ADD COLUMN postponed_at timestamptz;

-- Workers that were lost with jobs, for a day: whether the fleet is unwell is told by those of other jobs.
CREATE TABLE worker_loss (
  worker_id bigint PRIMARY KEY,
  -- Nil if it held several.
  job_id bigint,
  lost_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX worker_loss_time ON worker_loss (lost_at);
