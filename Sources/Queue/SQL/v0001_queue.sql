-- The queue. Only live jobs lie in the hot table; what is over moves to job_done or job_dead.

-- Fences writes: a token is unique per claim and compared for equality only, so gaps and order do not matter.
CREATE SEQUENCE job_token CACHE 64;

-- One row for each start of a process: an id is never used again. beat_at is in no index, so a beat is a HOT update.
CREATE TABLE worker (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  host text NOT NULL,
  process int NOT NULL,
  -- Without a sign of life for so long its jobs go to others: each worker is judged by its own measure.
  lease_seconds float8 NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  beat_at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);

CREATE TABLE job (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  queue text NOT NULL,
  kind text NOT NULL,
  -- a: available, s: scheduled, x: executing
  state "char" NOT NULL DEFAULT 'a' CHECK (state IN ('a', 's', 'x')),
  -- The order of claims: the time in microseconds, and for each step of priority a head start of 30 seconds.
  rank bigint NOT NULL,
  run_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  priority smallint NOT NULL DEFAULT 5 CHECK (priority BETWEEN 0 AND 9),
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
  CHECK ((state = 'x') = (token IS NOT NULL))
) WITH (
  fillfactor = 80, toast_tuple_target = 256, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 2000,
  autovacuum_vacuum_cost_delay = 0
);
CREATE INDEX job_available ON job (queue, rank, id) WHERE state = 'a';
CREATE INDEX job_scheduled ON job (run_at) WHERE state = 's';
CREATE INDEX job_worker ON job (worker_id) WHERE state = 'x';
CREATE INDEX job_deadline ON job (deadline_at) WHERE state = 'x';
CREATE UNIQUE INDEX job_unique_key ON job (unique_key) WHERE unique_key IS NOT NULL;

-- Written often while a job runs, and kept over its retries.
CREATE TABLE job_progress (
  job_id bigint PRIMARY KEY,
  token bigint NOT NULL,
  fraction real NOT NULL,
  stage text NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
) WITH (fillfactor = 50);

-- What is over, in partitions by day: history can be dropped by the day, instead of row by row.
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
  last_error text
) PARTITION BY RANGE (finished_at);
CREATE TABLE job_done_rest PARTITION OF job_done DEFAULT;
CREATE INDEX job_done_id ON job_done (id);
CREATE INDEX job_done_public_id ON job_done (public_id);

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
  arguments jsonb NOT NULL
);
