-- A job refers to its definition, so that a changed file never changes a queued job.
CREATE TABLE definition (
  hash bytea PRIMARY KEY CHECK (length(hash) = 32),
  name text NOT NULL,
  version int NOT NULL,
  body jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- All assets that one run made, or that one submission brought: they become visible together.
CREATE TABLE asset_set (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  -- NULL for the sources of a submission, which no run made.
  definition bytea REFERENCES definition,
  recipe bytea,
  job uuid,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- NULL while it is a current set, or a submission's sources. A retired set stays readable for a while: clients hold URLs of its assets.
  retired_at timestamptz,
  -- The set that took its place: where that goes because its post does, so does this one.
  replaced_by bigint REFERENCES asset_set,
  -- Not to be dropped, although retired.
  is_kept boolean NOT NULL DEFAULT false,
  -- The sources of rejected media are kept for a while: a later version may judge them otherwise. NULL: they were not rejected.
  rejected_at timestamptz
);
CREATE INDEX asset_set_replaced_by ON asset_set (replaced_by) WHERE replaced_by IS NOT NULL;
CREATE INDEX asset_set_retired ON asset_set (retired_at) WHERE retired_at IS NOT NULL AND NOT is_kept;
CREATE INDEX asset_set_rejected ON asset_set (rejected_at) WHERE rejected_at IS NOT NULL;

CREATE TABLE asset (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  asset_set_id bigint NOT NULL REFERENCES asset_set ON DELETE CASCADE,
  role text NOT NULL,
  -- The number among several of one role: the photos of a post.
  place smallint NOT NULL DEFAULT 0,
  blob bytea NOT NULL REFERENCES blob,
  type text NOT NULL,
  bytes bigint NOT NULL,
  width int,
  height int,
  duration double precision,
  thumbhash text,
  -- The colour that most of an image has, '#rrggbb'.
  color text,
  UNIQUE (asset_set_id, role, place)
);
CREATE INDEX asset_blob ON asset (blob);
