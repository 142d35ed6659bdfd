-- Stored media are processed again. A set that another took the place of stays readable for a while: clients hold URLs
-- of its assets.

-- Nil while somebody's current set, or a submission's sources.
ALTER TABLE asset_set ADD COLUMN retired_at timestamptz;
-- The set that took its place: where that goes because its post does, so does this one.
ALTER TABLE asset_set ADD COLUMN replaced_by bigint REFERENCES asset_set;
CREATE INDEX asset_set_replaced_by ON asset_set (replaced_by) WHERE replaced_by IS NOT NULL;
-- Not to be dropped, although retired.
ALTER TABLE asset_set ADD COLUMN is_kept boolean NOT NULL DEFAULT false;
CREATE INDEX asset_set_retired ON asset_set (retired_at) WHERE retired_at IS NOT NULL AND NOT is_kept;

-- What an operator asked for: it goes on until every item has an outcome, whoever was killed meanwhile.
CREATE TABLE reprocess_run (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  state text NOT NULL DEFAULT 'running' CHECK (state IN ('running', 'paused', 'cancelled', 'completed')),
  -- As it was asked for; for people.
  selection jsonb NOT NULL,
  keeps_old boolean NOT NULL DEFAULT false,
  -- Also where nothing would change.
  is_forced boolean NOT NULL DEFAULT false,
  -- Carried out by the command itself: workers leave it alone.
  is_local boolean NOT NULL DEFAULT false,
  priority smallint NOT NULL DEFAULT 5 CHECK (priority BETWEEN 0 AND 9),
  -- Items a second; nil: as fast as the workers are.
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
  -- Nil until its turn has come. Of a local run an id without a job: it fences what is written for the item.
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
