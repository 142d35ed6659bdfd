-- What apps read: lists with cursors, the map, comments, counts, and retries that make no duplicate.

ALTER TABLE post
  ADD COLUMN comment_count int NOT NULL DEFAULT 0,
  ADD COLUMN reaction_count int NOT NULL DEFAULT 0,
  -- Where a map shows it: where it was made, or else its place. x is the longitude.
  ADD COLUMN position point GENERATED ALWAYS AS (
    point(coalesce(longitude, place_longitude), coalesce(latitude, place_latitude))) STORED,
  -- The quarter of a degree that it lies in, numbered as in MapCell.swift: an area and a time together are found by it.
  ADD COLUMN map_cell int GENERATED ALWAYS AS (
    floor((coalesce(longitude, place_longitude) + 180) * 4)::int * 721
    + floor((coalesce(latitude, place_latitude) + 90) * 4)::int) STORED;
UPDATE post SET reaction_count = (
  SELECT count(*) FROM image WHERE image.post_id = post.id AND image.status = 'ready');

-- Every list is in this order, the newest first; the id tells apart what came in the same microsecond.
CREATE INDEX post_newest ON post (created_at DESC, id DESC);
CREATE INDEX post_author ON post (author, created_at DESC, id DESC);
CREATE INDEX post_place ON post (place_id, created_at DESC, id DESC) WHERE place_id IS NOT NULL;
CREATE INDEX post_kind ON post (kind, created_at DESC, id DESC);
CREATE INDEX post_map_cell ON post (map_cell, created_at DESC, id DESC) WHERE map_cell IS NOT NULL;

CREATE TABLE comment (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  post_id bigint NOT NULL REFERENCES post ON DELETE CASCADE,
  author text NOT NULL,
  text text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX comment_post ON comment (post_id, created_at DESC, id DESC);

-- Answers to requests that carried an Idempotency-Key, until they expire.
CREATE TABLE idempotent_answer (
  -- Of the API key; empty where none is needed.
  tenant text NOT NULL,
  key text NOT NULL,
  -- Of the request: another payload under the same key is refused.
  fingerprint bytea NOT NULL,
  status int NOT NULL,
  location text,
  body bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (tenant, key)
);
CREATE INDEX idempotent_answer_age ON idempotent_answer (created_at);

-- Who may ask, and for what. A key is stored as its hash.
CREATE TABLE api_key (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  revoked_at timestamptz
);

-- What media URLs are signed with: the newest signs, all that are here admit.
CREATE TABLE signing_key (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  secret bytea NOT NULL CHECK (length(secret) = 32),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
