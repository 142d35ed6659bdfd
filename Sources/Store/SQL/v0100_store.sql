-- Posts and what they are made of. Outside, everything is known by its public id; bigint keys stay inside.

-- What is to be done, by hash: a queued job never changes because a file did.
CREATE TABLE definition (
  hash bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
  name text NOT NULL,
  version int NOT NULL,
  body jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The bytes of media files: here if they are few, else in the blob store.
CREATE TABLE blob (
  hash bytea PRIMARY KEY CHECK (octet_length(hash) = 32),
  bytes bigint NOT NULL,
  content bytea CHECK (octet_length(content) = bytes),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- Media are compressed already: TOAST need not try again.
ALTER TABLE blob ALTER COLUMN content SET STORAGE EXTERNAL;

-- Blobs that lost a reference, until somebody has looked whether another holds them.
CREATE TABLE blob_release (
  hash bytea PRIMARY KEY,
  released_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What one run made, or one submission brought. Its owner points to it.
CREATE TABLE asset_set (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
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
  kind text NOT NULL,
  author text NOT NULL,
  title text,
  caption text,
  visibility text NOT NULL,
  place_id text,
  place_name text,
  place_latitude double precision,
  place_longitude double precision,
  latitude double precision,
  longitude double precision,
  captured_at timestamptz,
  foreground text NOT NULL,
  status text NOT NULL CHECK (status IN ('processing', 'ready', 'rejected', 'failed')),
  reasons jsonb NOT NULL DEFAULT '[]',
  source_set_id bigint REFERENCES asset_set,
  -- The current set: readers see the whole of one or the whole of another.
  asset_set_id bigint REFERENCES asset_set,
  job uuid,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX post_author ON post (author, id);
CREATE INDEX post_job ON post (job);
CREATE INDEX post_source_set ON post (source_set_id) WHERE source_set_id IS NOT NULL;
CREATE INDEX post_asset_set ON post (asset_set_id) WHERE asset_set_id IS NOT NULL;

-- Attempts in which the media process died, by the inputs it died of. The token tells one attempt from another.
CREATE TABLE media_crash (
  inputs bytea NOT NULL,
  token bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (inputs, token)
);
