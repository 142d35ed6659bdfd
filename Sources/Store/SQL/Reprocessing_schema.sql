-- Runs that process stored media again: what an operator asked for. A run goes on until every item has an outcome, whatever process was
-- killed meanwhile.
CREATE TABLE reprocess_run (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'paused', 'cancelled', 'completed')),
  -- As the operator wrote it; for people.
  selection jsonb NOT NULL,
  keeps_old boolean NOT NULL DEFAULT false,
  -- Also where nothing would change.
  is_forced boolean NOT NULL DEFAULT false,
  -- Of earlier versions, whose command performed the run by itself.
  is_local boolean NOT NULL DEFAULT false,
  priority smallint NOT NULL DEFAULT 5 CHECK (priority BETWEEN 0 AND 9),
  -- Items a second; NULL: as fast as the workers are.
  rate float8 CHECK (rate > 0),
  -- Up to when the rate has been made use of.
  fed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamptz
);
CREATE INDEX reprocess_run_running ON reprocess_run (id) WHERE state = 'running';

CREATE TABLE reprocess_item (
  run_id bigint NOT NULL REFERENCES reprocess_run ON DELETE CASCADE,
  subject_kind text NOT NULL CHECK (subject_kind IN ('post', 'image')),
  subject uuid NOT NULL,
  definition bytea NOT NULL REFERENCES definition,
  -- NULL until its turn has come.
  job uuid,
  outcome text CHECK (outcome IN ('done', 'skipped', 'failed', 'cancelled')),
  error text,
  -- That the media process worked on it.
  seconds float8,
  ended_at timestamptz,
  PRIMARY KEY (run_id, subject),
  CHECK ((outcome IS NULL) = (ended_at IS NULL))
);
CREATE INDEX reprocess_item_waiting ON reprocess_item (run_id, subject) WHERE outcome IS NULL AND job IS NULL;
CREATE INDEX reprocess_item_begun ON reprocess_item (run_id) WHERE outcome IS NULL AND job IS NOT NULL;
CREATE INDEX reprocess_item_job ON reprocess_item (job) WHERE job IS NOT NULL;
