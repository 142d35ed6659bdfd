-- Short jobs that are claimed together, turns between those who submit, limits, checkpoints, and jobs by the calendar.
-- All of it is additive: a worker that knows only the first version goes on beside one that knows this.

-- A short job while it executes, packed: a type of its own, since a column of the row type of job would forbid every
-- later change of that table.
CREATE TYPE packed_job AS (
  id bigint,
  public_id uuid,
  kind text,
  rank bigint,
  priority smallint,
  -- Before this one.
  attempt smallint,
  max_attempts smallint,
  lost smallint,
  deadline_seconds int,
  author text,
  definition bytea,
  request text,
  created_at timestamptz,
  last_error text,
  arguments jsonb,
  -- What later versions add.
  more jsonb
);

-- Short jobs that one worker claimed together: one row and one lease for all of them. They lie here instead of in job, so
-- that a claim marks nothing: it moves. Whatever has a key to hold stays in its own row.
CREATE TABLE job_group (
  token bigint PRIMARY KEY,
  worker_id bigint NOT NULL,
  queue text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  deadline_at timestamptz NOT NULL,
  -- Ids of members that are to be cancelled.
  cancelled bigint[] NOT NULL DEFAULT '{}',
  members packed_job[] NOT NULL
) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 200, autovacuum_vacuum_cost_delay = 0);

-- The members of groups, a row for each.
CREATE VIEW job_member AS
SELECT job_group.token, job_group.worker_id, job_group.queue, job_group.started_at, job_group.deadline_at,
  member.id = ANY (job_group.cancelled) AS is_cancelled, member.id, member.public_id, member.kind, member.rank,
  member.priority, member.attempt, member.max_attempts, member.lost, member.deadline_seconds, member.author,
  member.definition, member.request, member.created_at, member.last_error, member.arguments
FROM job_group, unnest(members) AS member;

-- At most so many jobs of a name are available or executing at a time.
CREATE TABLE job_limit (
  name text PRIMARY KEY,
  most int NOT NULL CHECK (most > 0)
);
ALTER TABLE job ADD COLUMN limit_name text;
ALTER TABLE job_dead ADD COLUMN limit_name text;
-- p: parked, its limit has no room
ALTER TABLE job DROP CONSTRAINT job_state_check;
ALTER TABLE job ADD CONSTRAINT job_state_check CHECK (state IN ('a', 's', 'x', 'p')) NOT VALID;
CREATE INDEX job_parked ON job (limit_name, rank, id) WHERE state = 'p';
CREATE INDEX job_limited ON job (limit_name) WHERE limit_name IS NOT NULL AND state IN ('a', 'x');

-- Whose turn it is: the rank from which on the next job of somebody counts, however many they submit at once.
CREATE TABLE job_share (
  name text PRIMARY KEY,
  next_rank bigint NOT NULL
) WITH (fillfactor = 50);

-- What a handler wants to find again in its next attempt.
ALTER TABLE job_progress ADD COLUMN checkpoint jsonb;

-- Jobs by the calendar.
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

-- Ids for the public grow with time as the others do: one index serves both lookups and the order of lists.
DROP INDEX job_done_id;
-- Few are cancelled, and they are asked for: nobody is to look through all that completed.
CREATE INDEX job_done_cancelled ON job_done (public_id) WHERE outcome = 'c';
