-- What clients submitted and what became of it.

-- A job refers to the definition it is done by, so that a changed file never changes a queued job.
CREATE TABLE definition (
  hash bytea PRIMARY KEY CHECK (length(hash) = 32),
  name text NOT NULL,
  version int NOT NULL,
  body jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The bytes of assets, named by their SHA-256. Small images lie here, the rest in the blob store.
CREATE TABLE blob (
  hash bytea PRIMARY KEY CHECK (length(hash) = 32),
  bytes bigint NOT NULL,
  inline_content bytea CHECK (length(inline_content) <= 262144),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- Pictures are compressed already: trying again only costs time.
ALTER TABLE blob ALTER COLUMN inline_content SET STORAGE EXTERNAL;

-- Blobs that lost a reference, until it was looked whether they have another. Without a key: noting never waits.
CREATE TABLE blob_release (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hash bytea NOT NULL
);

-- All assets that one run made, or that one submission brought: they become visible together.
CREATE TABLE asset_set (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  -- Nil for the sources of a submission, which no run made.
  definition bytea REFERENCES definition,
  recipe bytea,
  job uuid,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE asset (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  asset_set_id bigint NOT NULL REFERENCES asset_set ON DELETE CASCADE,
  role text NOT NULL,
  -- Tells several of one role apart: the photos of a post.
  place smallint NOT NULL DEFAULT 0,
  blob bytea NOT NULL REFERENCES blob,
  type text NOT NULL,
  bytes bigint NOT NULL,
  width int,
  height int,
  duration double precision,
  thumbhash text,
  UNIQUE (asset_set_id, role, place)
);
CREATE INDEX asset_blob ON asset (blob);

CREATE TABLE post (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('take5', 'photo', 'marker')),
  status text NOT NULL CHECK (status IN ('processing', 'ready', 'rejected', 'failed')),
  author text NOT NULL,
  title text,
  caption text,
  visibility text NOT NULL CHECK (visibility IN ('public', 'friends', 'private')),
  place_id text,
  place_name text,
  place_latitude double precision,
  place_longitude double precision,
  latitude double precision,
  longitude double precision,
  foreground text NOT NULL CHECK (foreground IN ('front', 'back')),
  captured_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  reasons jsonb NOT NULL DEFAULT '[]',
  job uuid,
  source_set_id bigint REFERENCES asset_set,
  -- The current set: the one write that readers notice.
  asset_set_id bigint REFERENCES asset_set
);
CREATE INDEX post_job ON post (job);
-- For the removal of a set, which must know that no post has it.
CREATE INDEX post_source_set ON post (source_set_id) WHERE source_set_id IS NOT NULL;
CREATE INDEX post_asset_set ON post (asset_set_id) WHERE asset_set_id IS NOT NULL;

-- How often the media process broke on the same inputs, whatever post they came with.
CREATE TABLE media_crash (
  inputs bytea PRIMARY KEY,
  crashes int NOT NULL,
  last_error text NOT NULL,
  last_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
