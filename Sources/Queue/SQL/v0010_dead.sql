-- The metrics show how many jobs are dead without reading them, and a clock that steps back delays no job. Additive. The triggers and the
-- indexes are made under a SHARE ROW EXCLUSIVE lock of job_dead and a SHARE lock of job, for the time of a scan of the dead and the live
-- jobs, during which jobs wait to be stored and to end.

-- What the rows of one queue and kind add up to: each statement that adds or deletes dead jobs inserts a row, so that none waits for
-- another, and the maintenance folds them into one.
CREATE TABLE job_dead_count (
  queue text NOT NULL,
  kind text NOT NULL,
  jobs bigint NOT NULL,
  attempts bigint NOT NULL,
  lost bigint NOT NULL
);

-- A worker of an earlier version counts too.
CREATE FUNCTION count_dead_jobs() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  INSERT INTO job_dead_count (queue, kind, jobs, attempts, lost)
  SELECT queue, kind, step * count(*), step * sum(attempt), step * sum(lost) FROM changed GROUP BY queue, kind;
  RETURN NULL;
END $$;
CREATE TRIGGER job_dead_added AFTER INSERT ON job_dead REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_dead_jobs();
CREATE TRIGGER job_dead_deleted AFTER DELETE ON job_dead REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION count_dead_jobs();

INSERT INTO job_dead_count (queue, kind, jobs, attempts, lost)
SELECT queue, kind, count(*), sum(attempt), sum(lost) FROM job_dead GROUP BY queue, kind;

-- The jobs whose pause was set by a clock that has stepped back since.
CREATE INDEX job_scheduled_since ON job (greatest(created_at, started_at)) WHERE state = 's';
-- The oldest dead job of a kind.
CREATE INDEX job_dead_kind ON job_dead (queue, kind, died_at);
