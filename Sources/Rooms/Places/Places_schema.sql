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
  -- Whether a moderator has hidden it.
  is_hidden boolean NOT NULL DEFAULT false
);
-- One for each order of lists. Saves that others see are those of favourites: collections are not public.
CREATE INDEX place_posts ON place (post_count DESC, number DESC) WHERE is_known;
CREATE INDEX place_saves ON place (save_count DESC, number DESC) WHERE is_known;
CREATE INDEX place_favourites ON place (favourite_count DESC, number DESC) WHERE is_known;
-- Places in a small area are found by their positions. The index has what lists are ordered by, so that of many places only those of the
-- page are read.
CREATE INDEX place_area ON place USING gist (position) INCLUDE (post_count, favourite_count, save_count, number) WHERE is_known;
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

-- What is said of places, by each for oneself, and which of it counts.
CREATE TABLE place_description (
  place_id text NOT NULL REFERENCES place ON DELETE CASCADE,
  -- Empty: a client that acts as no user.
  user_id text NOT NULL,
  -- Whose word counts before whose: 0 is that of a client that acts as no user, 1 what the public posts of a user say, 2 what a user says
  -- besides.
  rank smallint NOT NULL CHECK (rank BETWEEN 0 AND 2),
  -- If equally many say different things, what was said first counts.
  number bigint GENERATED ALWAYS AS IDENTITY,
  name text,
  latitude double precision,
  longitude double precision,
  categories text[] NOT NULL DEFAULT '{}',
  rating double precision CHECK (rating BETWEEN 0 AND 5),
  price_level smallint CHECK (price_level BETWEEN 1 AND 4),
  PRIMARY KEY (place_id, rank, user_id)
);
CREATE INDEX place_description_first ON place_description (place_id, rank, number);
CREATE INDEX place_description_user ON place_description (user_id, number);

-- Makes of what is said of a place what is shown of it. Of each rank the first fifty count, so that no place costs more.
--
-- The coordinate is the one with the smallest sum of distances to the others, in millionths of a degree: one user with a point of their own
-- moves nothing. Where a client that acts as no user has described the place, no user describes it; what that client leaves out is what the
-- posts say. A place without a description stays as it was.
CREATE FUNCTION agree_on_place(asked text) RETURNS void LANGUAGE sql AS $$
  WITH said AS MATERIALIZED (
    SELECT counted.* FROM generate_series(0, 2) AS level (rank) CROSS JOIN LATERAL (
      SELECT * FROM place_description AS description
      WHERE description.place_id = asked AND description.rank = level.rank ORDER BY description.number LIMIT 50) AS counted
    WHERE counted.rank < 2
      OR NOT EXISTS (SELECT FROM place_description AS final WHERE final.place_id = asked AND final.rank = 0)),
  located AS MATERIALIZED (SELECT rank, number, latitude, longitude FROM said WHERE latitude IS NOT NULL)
  UPDATE place SET
    name = (
      SELECT said.name FROM said WHERE said.name IS NOT NULL
      GROUP BY said.rank, said.name ORDER BY said.rank, count(*) DESC, min(said.number) LIMIT 1),
    (latitude, longitude) = (
      SELECT one.latitude, one.longitude FROM located AS one
      ORDER BY one.rank, (
        SELECT sum(round(1e6 * (abs(other.latitude - one.latitude)
          + least(abs(other.longitude - one.longitude), 360 - abs(other.longitude - one.longitude))))::bigint)
        FROM located AS other WHERE other.rank = one.rank), one.number
      LIMIT 1),
    categories = coalesce((
      SELECT said.categories FROM said WHERE said.categories <> '{}'
      GROUP BY said.rank, said.categories ORDER BY said.rank, count(*) DESC, min(said.number) LIMIT 1), '{}'),
    rating = (
      SELECT said.rating FROM said WHERE said.rating IS NOT NULL
      GROUP BY said.rank, said.rating ORDER BY said.rank, count(*) DESC, min(said.number) LIMIT 1),
    price_level = (
      SELECT said.price_level FROM said WHERE said.price_level IS NOT NULL
      GROUP BY said.rank, said.price_level ORDER BY said.rank, count(*) DESC, min(said.number) LIMIT 1)
  WHERE place.id = asked AND EXISTS (SELECT FROM said)
$$;

CREATE FUNCTION describe_places() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM agree_on_place(place_id) FROM (SELECT DISTINCT place_id FROM changed ORDER BY place_id) AS described;
  RETURN NULL;
END $$;

CREATE TRIGGER place_description_added AFTER INSERT ON place_description REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION describe_places();
CREATE TRIGGER place_description_changed AFTER UPDATE ON place_description REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION describe_places();
CREATE TRIGGER place_description_deleted AFTER DELETE ON place_description REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION describe_places();

-- The lock order continues: after the users the places, in the order of their ids, and after a place its rows.

-- Counts a public post at a place, or no longer. What the latest public post of a user says of the place is what this user's posts say.
CREATE FUNCTION count_post(counted post, step int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  now_there bigint;
BEGIN
  -- A row that does not change is locked all the same.
  INSERT INTO place AS named (id) VALUES (counted.place_id) ON CONFLICT (id) DO UPDATE SET id = excluded.id WHERE false;
  IF step >= 0 AND (counted.place_name <> '' OR counted.place_latitude IS NOT NULL) THEN
    INSERT INTO place_description AS said (place_id, user_id, rank, name, latitude, longitude)
    VALUES (counted.place_id, counted.author, 1, nullif(counted.place_name, ''), counted.place_latitude, counted.place_longitude)
    ON CONFLICT (place_id, rank, user_id) DO UPDATE SET name = coalesce(excluded.name, said.name),
      latitude = coalesce(excluded.latitude, said.latitude), longitude = coalesce(excluded.longitude, said.longitude)
    WHERE (coalesce(excluded.name, said.name), coalesce(excluded.latitude, said.latitude), coalesce(excluded.longitude, said.longitude))
      IS DISTINCT FROM (said.name, said.latitude, said.longitude);
  END IF;
  IF step = 0 THEN RETURN; END IF;
  INSERT INTO place_user AS present (place_id, user_id, posts) VALUES (counted.place_id, counted.author, step)
  ON CONFLICT (place_id, user_id) DO UPDATE SET posts = present.posts + step RETURNING posts INTO now_there;
  IF now_there = 0 THEN
    DELETE FROM place_user WHERE place_id = counted.place_id AND user_id = counted.author;
    DELETE FROM place_description WHERE place_id = counted.place_id AND user_id = counted.author AND rank = 1;
  END IF;
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
