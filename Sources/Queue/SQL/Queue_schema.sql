-- The queue. Only live jobs are in the hot table; jobs that have ended move to job_done or job_dead.

-- Fences writes: a token is unique per claim and compared for equality only, so that gaps and order do not matter.
CREATE SEQUENCE job_token CACHE 64;

-- One row for each start of a process: an id is never used again. beat_at is in no index, so that a heartbeat is a HOT update.
CREATE TABLE worker (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  host text NOT NULL,
  process int NOT NULL,
  -- Without a heartbeat for so long its jobs go to others: each worker is judged by its own measure.
  lease_seconds float8 NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  beat_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- What it has done within the last hour, which it writes with its heartbeats: an object with the kinds of jobs as keys.
  recent jsonb
) WITH (fillfactor = 50);

-- Workers that were lost with jobs, for a day: those of other jobs show whether the fleet is unwell.
CREATE TABLE worker_loss (
  worker_id bigint PRIMARY KEY,
  -- NULL: it held several.
  job_id bigint,
  lost_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX worker_loss_time ON worker_loss (lost_at);

-- Which worker performs the maintenance for all.
CREATE TABLE maintenance_turn (
  -- There is one at most.
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  worker_id bigint NOT NULL,
  ends_at timestamptz NOT NULL
) WITH (fillfactor = 50);

-- An insertion opens every index and reads every constraint of the table: the indexes are few, and what every statement writes as a
-- constant is not checked. A claim changes the state, which indexes have: free space in the same page would not make it a HOT update.
CREATE TABLE job (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  queue text NOT NULL,
  kind text NOT NULL,
  -- a: available, s: scheduled, x: executing, p: throttled, its limit has no room
  state "char" NOT NULL DEFAULT 'a',
  -- The order of claims: the time in microseconds, and for each step of priority a head start of 30 seconds.
  rank bigint NOT NULL,
  run_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  priority smallint NOT NULL DEFAULT 5,
  attempt smallint NOT NULL DEFAULT 0,
  max_attempts smallint NOT NULL DEFAULT 5,
  lost smallint NOT NULL DEFAULT 0,
  worker_id bigint,
  token bigint,
  started_at timestamptz,
  deadline_at timestamptz,
  deadline_seconds int NOT NULL,
  cancel_at timestamptz,
  unique_key bytea,
  author text,
  definition bytea,
  request text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_error text,
  arguments jsonb NOT NULL DEFAULT '{}',
  limit_name text,
  -- How often it was lost with its worker and takes the blame: it was in a stage that can break a worker, alone, and no other
  -- job was lost at the time.
  blamed smallint NOT NULL DEFAULT 0,
  -- Since when something that is not its fault keeps it from being done. NULL: nothing does. After a day it is given up.
  postponed_at timestamptz,
  -- The traceparent of the request that submitted it (W3C Trace Context). NULL: it is not traced.
  trace text,
  CHECK ((state = 'x') = (token IS NOT NULL))
) WITH (
  toast_tuple_target = 256, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0, fillfactor = 100
);
CREATE INDEX job_available ON job (queue, rank, id) WHERE state = 'a';
CREATE INDEX job_scheduled ON job (run_at) WHERE state = 's';
-- The jobs whose pause was set by a clock that has stepped back since.
CREATE INDEX job_scheduled_since ON job (greatest(created_at, started_at)) WHERE state = 's';
-- Few jobs execute, so that all of them are read for the deadlines.
CREATE INDEX job_worker ON job (worker_id) WHERE state = 'x';
CREATE UNIQUE INDEX job_unique_key ON job (unique_key) WHERE unique_key IS NOT NULL;
-- Those of a limit by their state, and the throttled ones in their order.
CREATE INDEX job_limit_state ON job (limit_name, state, rank, id) WHERE limit_name IS NOT NULL;
-- Whether there are limits to look at: few jobs are throttled, and most often none.
CREATE INDEX job_throttled ON job (queue) WHERE state = 'p';

-- Written often while a job runs, and kept over its retries.
CREATE TABLE job_progress (
  job_id bigint PRIMARY KEY,
  token bigint NOT NULL,
  fraction real NOT NULL,
  stage text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);

-- At most so many jobs of a name are available or executing at a time.
CREATE TABLE job_limit (
  name text PRIMARY KEY,
  most int NOT NULL CHECK (most > 0)
);

-- Turns between those who submit: the rank from which on the next job of each counts, however many one submits at once.
CREATE TABLE job_share (
  name text PRIMARY KEY,
  next_rank bigint NOT NULL
) WITH (fillfactor = 50);

-- The jobs that have ended, in partitions by day: history can be dropped by the day, instead of row by row.
CREATE TABLE job_done (
  id bigint NOT NULL,
  public_id uuid NOT NULL,
  queue text NOT NULL,
  kind text NOT NULL,
  -- a: completed and accepted, r: completed and rejected, c: cancelled
  outcome "char" NOT NULL CHECK (outcome IN ('a', 'r', 'c')),
  attempt smallint NOT NULL,
  max_attempts smallint NOT NULL,
  lost smallint NOT NULL,
  worker_id bigint,
  token bigint,
  author text,
  definition bytea,
  request text,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  finished_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  arguments jsonb NOT NULL,
  result jsonb,
  last_error text,
  trace text
) PARTITION BY RANGE (finished_at);
CREATE TABLE job_done_rest PARTITION OF job_done DEFAULT;
-- Public ids grow with time as the others do: one index serves both lookups and the order of lists.
CREATE INDEX job_done_public_id ON job_done (public_id);
-- Few are cancelled, and lists of them do not read all that completed.
CREATE INDEX job_done_cancelled ON job_done (public_id) WHERE outcome = 'c';
-- For the deletion of a user.
CREATE INDEX job_done_author ON job_done (author) WHERE author IS NOT NULL;

-- Out of attempts; an operator may put them back.
CREATE TABLE job_dead (
  id bigint PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  queue text NOT NULL,
  kind text NOT NULL,
  priority smallint NOT NULL,
  attempt smallint NOT NULL,
  max_attempts smallint NOT NULL,
  lost smallint NOT NULL,
  deadline_seconds int NOT NULL,
  unique_key bytea,
  author text,
  definition bytea,
  request text,
  created_at timestamptz NOT NULL,
  started_at timestamptz,
  died_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  last_error text,
  arguments jsonb NOT NULL,
  limit_name text,
  postponed_at timestamptz,
  trace text
);
-- The dead jobs that may be revived are those of a day, and those that are deleted are the oldest.
CREATE INDEX job_dead_died_at ON job_dead (died_at);
-- The oldest dead job of a kind.
CREATE INDEX job_dead_kind ON job_dead (queue, kind, died_at);
-- For the deletion of a user.
CREATE INDEX job_dead_author ON job_dead (author) WHERE author IS NOT NULL;

-- What the dead jobs of one queue and kind add up to, for the metrics: each statement that adds or deletes dead jobs inserts a row, so that
-- none waits for another, and the maintenance folds them into one.
CREATE TABLE job_dead_count (
  queue text NOT NULL,
  kind text NOT NULL,
  jobs bigint NOT NULL,
  attempts bigint NOT NULL,
  lost bigint NOT NULL
);
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

-- Jobs at the times of a schedule.
CREATE TABLE cron_entry (
  name text PRIMARY KEY,
  -- Five fields, as crontab(5) has them.
  schedule text NOT NULL,
  -- By whose clock; as pg_timezone_names has it.
  zone text NOT NULL,
  queue text NOT NULL,
  kind text NOT NULL,
  arguments jsonb NOT NULL DEFAULT '{}',
  deadline_seconds int NOT NULL,
  is_paused boolean NOT NULL DEFAULT false,
  last_at timestamptz,
  next_at timestamptz NOT NULL
);
