-- Places by the ids of the app. A place is there once a client has described it, a public post names it, or a user favours or comments
-- on it.

CREATE TABLE place (
  id text PRIMARY KEY,
  -- For lists.
  number bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  name text,
  latitude double precision,
  longitude double precision,
  categories text[] NOT NULL DEFAULT '{}',
  rating double precision CHECK (rating BETWEEN 0 AND 5),
  price_level smallint CHECK (price_level BETWEEN 1 AND 4),
  -- The user who described it first. NULL: a client that acts as no user, or only posts name it.
  author text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Of the description: each change adds one. 0: what posts say of it.
  revision bigint NOT NULL DEFAULT 0,
  -- Counters, which triggers keep: of ready public posts, and of the users who have them.
  post_count bigint NOT NULL DEFAULT 0,
  author_count bigint NOT NULL DEFAULT 0,
  favourite_count bigint NOT NULL DEFAULT 0,
  collection_count bigint NOT NULL DEFAULT 0,
  comment_count bigint NOT NULL DEFAULT 0,
  -- How many users and collections have it.
  save_count bigint GENERATED ALWAYS AS (favourite_count + collection_count) STORED,
  -- A row may be there for a counter alone; a private itinerary does not make a place known.
  is_known boolean GENERATED ALWAYS AS (
    revision > 0 OR post_count > 0 OR favourite_count > 0 OR comment_count > 0) STORED,
  position point GENERATED ALWAYS AS (point(longitude, latitude)) STORED,
  -- As that of a post.
  map_cell int GENERATED ALWAYS AS (
    floor((longitude + 180) * 4)::int * 721 + floor((latitude + 90) * 4)::int) STORED
);
-- One for each order of lists.
CREATE INDEX place_posts ON place (post_count DESC, number DESC) WHERE is_known;
CREATE INDEX place_saves ON place (save_count DESC, number DESC) WHERE is_known;
CREATE INDEX place_map_cell ON place (map_cell) WHERE is_known AND map_cell IS NOT NULL;
CREATE INDEX place_categories ON place USING gin (categories) WHERE is_known;
CREATE INDEX place_author ON place (author) WHERE author IS NOT NULL;

-- Who has public posts at a place.
CREATE TABLE place_user (
  place_id text NOT NULL REFERENCES place ON DELETE CASCADE,
  user_id text NOT NULL,
  posts bigint NOT NULL,
  PRIMARY KEY (place_id, user_id)
);

-- What a user has noted about a place, for the eyes of the user only.
CREATE TABLE place_note (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id text NOT NULL,
  place_id text NOT NULL,
  text text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (user_id, place_id)
);
CREATE INDEX place_note_newest ON place_note (user_id, updated_at DESC, id DESC);

-- The lock order continues: after the users the places, in the order of their ids, and after a place its rows.

-- Counts a public post at a place, or no longer. What the first post says of a place holds until a client describes it.
CREATE FUNCTION count_post(counted post, step int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  now_there bigint;
BEGIN
  INSERT INTO place AS named (id, name, latitude, longitude)
  VALUES (counted.place_id, counted.place_name, counted.place_latitude, counted.place_longitude)
  ON CONFLICT (id) DO UPDATE SET name = coalesce(named.name, excluded.name),
    latitude = coalesce(named.latitude, excluded.latitude), longitude = coalesce(named.longitude, excluded.longitude)
  -- A row that does not change is locked all the same.
  WHERE named.revision = 0 AND step >= 0;
  IF step = 0 THEN RETURN; END IF;
  INSERT INTO place_user AS present (place_id, user_id, posts) VALUES (counted.place_id, counted.author, step)
  ON CONFLICT (place_id, user_id) DO UPDATE SET posts = present.posts + step RETURNING posts INTO now_there;
  IF now_there = 0 THEN DELETE FROM place_user WHERE place_id = counted.place_id AND user_id = counted.author; END IF;
  UPDATE place SET post_count = post_count + step,
    author_count = author_count + CASE WHEN step = 1 AND now_there = 1 THEN 1 WHEN now_there = 0 THEN -1 ELSE 0 END
  WHERE id = counted.place_id;
END $$;

CREATE FUNCTION post_places() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was text := CASE WHEN TG_OP <> 'INSERT' AND OLD.status = 'ready' AND OLD.visibility = 'public' THEN OLD.place_id END;
  present text := CASE WHEN TG_OP <> 'DELETE' AND NEW.status = 'ready' AND NEW.visibility = 'public' THEN NEW.place_id END;
BEGIN
  IF was = present THEN
    PERFORM count_post(NEW, 0);
  ELSE
    IF was < present OR present IS NULL AND was IS NOT NULL THEN PERFORM count_post(OLD, -1); END IF;
    IF present IS NOT NULL THEN PERFORM count_post(NEW, 1); END IF;
    IF was > present THEN PERFORM count_post(OLD, -1); END IF;
  END IF;
  RETURN NULL;
END $$;
-- Triggers run in the order of their names: after those of users.
CREATE TRIGGER post_place_added AFTER INSERT ON post FOR EACH ROW WHEN (NEW.place_id IS NOT NULL)
  EXECUTE FUNCTION post_places();
CREATE TRIGGER post_place_deleted AFTER DELETE ON post FOR EACH ROW WHEN (OLD.place_id IS NOT NULL)
  EXECUTE FUNCTION post_places();
CREATE TRIGGER post_place_changed AFTER UPDATE OF status, visibility, place_id, place_name, place_latitude, place_longitude
  ON post FOR EACH ROW
  WHEN ((OLD.status, OLD.visibility, OLD.place_id, OLD.place_name, OLD.place_latitude, OLD.place_longitude)
    IS DISTINCT FROM (NEW.status, NEW.visibility, NEW.place_id, NEW.place_name, NEW.place_latitude, NEW.place_longitude)
    AND (OLD.place_id IS NOT NULL OR NEW.place_id IS NOT NULL))
  EXECUTE FUNCTION post_places();

CREATE FUNCTION relation_places() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  IF NOT EXISTS (SELECT FROM changed WHERE kind = 'favourite') THEN RETURN NULL; END IF;
  IF TG_OP = 'INSERT' THEN
    INSERT INTO place (id) SELECT DISTINCT target FROM changed WHERE kind = 'favourite' ORDER BY target
    ON CONFLICT DO NOTHING;
  END IF;
  PERFORM FROM place WHERE id IN (SELECT target FROM changed WHERE kind = 'favourite') ORDER BY id FOR NO KEY UPDATE;
  UPDATE place SET favourite_count = favourite_count + step * favoured.added
  FROM (SELECT target, count(*) AS added FROM changed WHERE kind = 'favourite' GROUP BY target) AS favoured
  WHERE id = favoured.target;
  RETURN NULL;
END $$;
CREATE TRIGGER relation_place_added AFTER INSERT ON relation REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION relation_places();
CREATE TRIGGER relation_place_deleted AFTER DELETE ON relation REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION relation_places();

INSERT INTO place (id, name, latitude, longitude, post_count, author_count)
SELECT place_id, (array_agg(place_name ORDER BY id) FILTER (WHERE place_name IS NOT NULL))[1],
  (array_agg(place_latitude ORDER BY id) FILTER (WHERE place_latitude IS NOT NULL))[1],
  (array_agg(place_longitude ORDER BY id) FILTER (WHERE place_longitude IS NOT NULL))[1],
  count(*), count(DISTINCT author)
FROM post WHERE place_id IS NOT NULL AND status = 'ready' AND visibility = 'public' GROUP BY place_id;
INSERT INTO place_user (place_id, user_id, posts)
SELECT place_id, author, count(*) FROM post
WHERE place_id IS NOT NULL AND status = 'ready' AND visibility = 'public' GROUP BY place_id, author;
INSERT INTO place (id, favourite_count)
SELECT target, count(*) FROM relation WHERE kind = 'favourite' GROUP BY target
ON CONFLICT (id) DO UPDATE SET favourite_count = excluded.favourite_count;
