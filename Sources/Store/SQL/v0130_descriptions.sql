-- What is said of places, by each for oneself, and which of it counts.

CREATE TABLE place_description (
  place_id text NOT NULL REFERENCES place ON DELETE CASCADE,
  -- Empty: a client that acts as no user.
  user_id text NOT NULL,
  -- Whose word counts before whose: 0 is that of a client that acts as no user, 1 what the public posts of a user say, 2 what a user says besides.
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
-- The coordinate is the one with the smallest sum of distances to the others, in millionths of a degree: whoever is alone with a point moves nothing. Where a client that
-- acts as no user has described the place, no user describes it; what that client leaves out is what the posts say.
-- A place without a description stays as it was.
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

-- Counts a public post at a place, or no longer. What the latest public post of a user says of the place is what this user's posts say.
CREATE OR REPLACE FUNCTION count_post(counted post, step int) RETURNS void LANGUAGE plpgsql AS $$
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

-- What there is: who described a place first was the only one who did. Without an author it was a client that acts as no user.
INSERT INTO place_description (place_id, user_id, rank, name, latitude, longitude, categories, rating, price_level)
SELECT id, coalesce(author, ''), CASE WHEN author IS NULL THEN 0 ELSE 2 END, name, latitude, longitude, categories, rating, price_level
FROM place WHERE revision > 0 ORDER BY number;
INSERT INTO place_description (place_id, user_id, rank, name, latitude, longitude)
SELECT place_id, author, 1, (array_agg(place_name ORDER BY id DESC) FILTER (WHERE place_name <> ''))[1],
  (array_agg(place_latitude ORDER BY id DESC) FILTER (WHERE place_latitude IS NOT NULL))[1],
  (array_agg(place_longitude ORDER BY id DESC) FILTER (WHERE place_longitude IS NOT NULL))[1]
FROM post
WHERE status = 'ready' AND visibility = 'public' AND (place_name <> '' OR place_latitude IS NOT NULL)
  AND EXISTS (SELECT FROM place WHERE place.id = post.place_id)
GROUP BY place_id, author ORDER BY min(id);
SELECT agree_on_place(place_id) FROM (SELECT DISTINCT place_id FROM place_description ORDER BY place_id) AS described;

CREATE TRIGGER place_description_added AFTER INSERT ON place_description REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION describe_places();
CREATE TRIGGER place_description_changed AFTER UPDATE ON place_description REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION describe_places();
CREATE TRIGGER place_description_deleted AFTER DELETE ON place_description REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION describe_places();

-- Saves that others see are those of favourites: collections are not public.
CREATE INDEX place_favourites ON place (favourite_count DESC, number DESC) WHERE is_known;
CREATE INDEX place_area ON place USING gist (position) INCLUDE (post_count, favourite_count, save_count, number) WHERE is_known;
DROP INDEX place_position;
