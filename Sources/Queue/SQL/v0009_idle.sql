-- Idle workers and old jobs cost nothing. Additive. Each index is built under a SHARE lock of its table, which lets others read and
-- not write: those of job and job_dead for the time of a scan of what is live or dead, that of job_done for about two seconds for a
-- million finished jobs, during which jobs wait to end.

-- Which worker performs the maintenance for all.
CREATE TABLE maintenance_turn (
  -- There is one at most.
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  worker_id bigint NOT NULL,
  ends_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- Whether a limit has to be looked at: few jobs are throttled, and most often none.
CREATE INDEX job_throttled ON job (queue) WHERE state = 'p';
-- The dead jobs that may be revived are those of a day, and those that are deleted are the oldest.
CREATE INDEX job_dead_died_at ON job_dead (died_at);
-- For the deletion of a user.
CREATE INDEX job_dead_author ON job_dead (author) WHERE author IS NOT NULL;
CREATE INDEX job_done_author ON job_done (author) WHERE author IS NOT NULL;
