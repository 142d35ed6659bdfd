-- What clients submitted and what became of it.

CREATE TABLE post (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('take5', 'photo', 'marker')),
  status text NOT NULL CHECK (status IN ('processing', 'ready', 'rejected', 'failed', 'held', 'hidden')),
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
  asset_set_id bigint REFERENCES asset_set,
  comment_count int NOT NULL DEFAULT 0,
  reaction_count int NOT NULL DEFAULT 0,
  -- Where a map shows it: where it was made, or else its place. x is the longitude.
  position point GENERATED ALWAYS AS (
    point(coalesce(longitude, place_longitude), coalesce(latitude, place_latitude))) STORED,
  -- The quarter of a degree that it is in, numbered as by MapCell: an area and a time together are found by it.
  map_cell int GENERATED ALWAYS AS (
    floor((coalesce(longitude, place_longitude) + 180) * 4)::int * 721
    + floor((coalesce(latitude, place_latitude) + 90) * 4)::int) STORED,
  like_count int NOT NULL DEFAULT 0,
  -- When the moment was: a calendar has it on that day. The time that the camera gave, if it is believable: a phone may be offline for
  -- weeks, and its clock a little fast.
  taken_at timestamptz GENERATED ALWAYS AS (
    CASE WHEN captured_at - created_at BETWEEN interval '-30 days' AND interval '5 minutes' THEN captured_at ELSE created_at END
  ) STORED,
  -- When it was changed, so that an app asks only for what it has not seen.
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Whether a moment was posted on time, as it was judged when it was submitted. NULL: the post is no moment, or no window had opened by
  -- then.
  window_state text CHECK (window_state IN ('on_time', 'late', 'outside')),
  late_seconds int CHECK ((late_seconds IS NOT NULL) = (window_state IS NOT DISTINCT FROM 'late')),
  -- What its media show, in words.
  alternative_text text,
  -- 'hold': only the author sees the post until a moderator decides. 'hide': a moderator has decided so. NULL: as its visibility says.
  moderation text CHECK (moderation IN ('hold', 'hide')),
  -- Whether its definition holds it: a change of its texts holds it again.
  is_moderated boolean NOT NULL DEFAULT false,
  -- The time of an event in the front clip of a moment minus its time in the back clip, for every player that switches between them. NULL: it
  -- is not known, or the post is no moment.
  offset_seconds double precision
);
CREATE INDEX post_job ON post (job);
-- For the removal of a set, which must know that no post has it.
CREATE INDEX post_source_set ON post (source_set_id) WHERE source_set_id IS NOT NULL;
CREATE INDEX post_asset_set ON post (asset_set_id) WHERE asset_set_id IS NOT NULL;
-- Every list is in this order, the newest first; the id orders what came in the same microsecond.
CREATE INDEX post_newest ON post (created_at DESC, id DESC);
CREATE INDEX post_author ON post (author, created_at DESC, id DESC);
CREATE INDEX post_place ON post (place_id, created_at DESC, id DESC) WHERE place_id IS NOT NULL;
CREATE INDEX post_kind ON post (kind, created_at DESC, id DESC);
CREATE INDEX post_map_cell ON post (map_cell, created_at DESC, id DESC) WHERE map_cell IS NOT NULL;
CREATE INDEX post_taken ON post (author, taken_at DESC, id DESC);
CREATE INDEX post_updated ON post (updated_at DESC, id DESC);
CREATE INDEX post_author_updated ON post (author, updated_at DESC, id DESC);
-- The posts near a point are read in the order of their distances from it, so that of many posts only those of the page are read.
CREATE INDEX post_position ON post USING gist (position) WHERE position IS NOT NULL;

-- What the version of a post covers: its content, its status and its media. Comments, reactions and likes change their counts alone.
CREATE FUNCTION post_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_at := clock_timestamp();
  RETURN NEW;
END $$;
CREATE TRIGGER post_updated BEFORE UPDATE ON post FOR EACH ROW
  WHEN ((OLD.status, OLD.reasons, OLD.asset_set_id, OLD.title, OLD.caption, OLD.visibility, OLD.place_id, OLD.place_name,
      OLD.place_latitude, OLD.place_longitude, OLD.latitude, OLD.longitude, OLD.foreground)
    IS DISTINCT FROM (NEW.status, NEW.reasons, NEW.asset_set_id, NEW.title, NEW.caption, NEW.visibility, NEW.place_id,
      NEW.place_name, NEW.place_latitude, NEW.place_longitude, NEW.latitude, NEW.longitude, NEW.foreground))
  EXECUTE FUNCTION post_changed();
CREATE TRIGGER post_described BEFORE UPDATE ON post FOR EACH ROW
  WHEN (OLD.alternative_text IS DISTINCT FROM NEW.alternative_text) EXECUTE FUNCTION post_changed();

-- Images that are submitted by themselves: reactions, profile images, thumbnails of itineraries, photos of places.
CREATE TABLE image (
  -- In the order of submission: of a kind that replaces, the largest that was accepted counts.
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('reaction', 'profile', 'itinerary', 'place')),
  owner text NOT NULL,
  post_id bigint REFERENCES post ON DELETE CASCADE CHECK ((post_id IS NOT NULL) = (kind = 'reaction')),
  author text,
  status text NOT NULL CHECK (status IN ('processing', 'ready', 'rejected', 'failed', 'replaced')),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  reasons jsonb NOT NULL DEFAULT '[]',
  job uuid,
  source_set_id bigint REFERENCES asset_set,
  asset_set_id bigint REFERENCES asset_set,
  -- What it shows, in words.
  alternative_text text,
  -- Whether a moderator has hidden it.
  is_hidden boolean NOT NULL DEFAULT false
);
CREATE INDEX image_owner ON image (kind, owner, id DESC) WHERE asset_set_id IS NOT NULL;
-- One's own photos of a place, and one's own reactions to a post, however many others have theirs there.
CREATE INDEX image_author ON image (kind, owner, author, id DESC) WHERE asset_set_id IS NOT NULL AND author IS NOT NULL;
-- Of the images of an itinerary, of any status: a user changes only those of their own.
CREATE INDEX image_itinerary ON image (owner) WHERE kind = 'itinerary';
-- What a user submitted anywhere.
CREATE INDEX image_submitter ON image (author) WHERE author IS NOT NULL;
CREATE INDEX image_post ON image (post_id) WHERE post_id IS NOT NULL;
CREATE INDEX image_job ON image (job);
CREATE INDEX image_source_set ON image (source_set_id) WHERE source_set_id IS NOT NULL;
CREATE INDEX image_asset_set ON image (asset_set_id) WHERE asset_set_id IS NOT NULL;

-- The daily window: one row for each time that it opened.
CREATE TABLE daily_window (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- That opened it: no job does so twice.
  job uuid NOT NULL UNIQUE,
  opened_at timestamptz NOT NULL,
  closes_at timestamptz NOT NULL CHECK (closes_at > opened_at)
);
CREATE INDEX daily_window_latest ON daily_window (opened_at);
