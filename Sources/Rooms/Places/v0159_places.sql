-- How users rate places, each once.
CREATE TABLE place_rating (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  place_id text NOT NULL REFERENCES place ON DELETE CASCADE,
  user_id text NOT NULL,
  -- In halves, so that sums are exact.
  halves smallint NOT NULL CHECK (halves BETWEEN 2 AND 10),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (user_id, place_id)
);
CREATE INDEX place_rating_place ON place_rating (place_id);
CREATE INDEX place_rating_newest ON place_rating (user_id, updated_at DESC, id DESC);

-- Counters, which a trigger keeps: the ratings and their sum.
ALTER TABLE place ADD COLUMN rating_count bigint NOT NULL DEFAULT 0, ADD COLUMN rating_halves bigint NOT NULL DEFAULT 0;

-- Who writes a rating has locked the place before.
CREATE FUNCTION place_ratings() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE place SET rating_count = rating_count + CASE TG_OP WHEN 'INSERT' THEN 1 WHEN 'DELETE' THEN -1 ELSE 0 END,
    rating_halves = rating_halves + coalesce(NEW.halves, 0) - coalesce(OLD.halves, 0)
  WHERE id = coalesce(NEW.place_id, OLD.place_id);
  RETURN NULL;
END $$;
CREATE TRIGGER place_rating_changed AFTER INSERT OR DELETE OR UPDATE OF halves ON place_rating FOR EACH ROW
  EXECUTE FUNCTION place_ratings();

-- Whether the app has no other name for the place: then its author alone describes it, besides clients that act as no user.
ALTER TABLE place ADD COLUMN is_own boolean NOT NULL DEFAULT false;

-- As before; of an own place no posts count, and what a client that acts as no user leaves out is what the author says.
CREATE OR REPLACE FUNCTION agree_on_place(asked text) RETURNS void LANGUAGE sql AS $$
  WITH said AS MATERIALIZED (
    SELECT counted.* FROM generate_series(0, 2) AS level (rank) CROSS JOIN LATERAL (
      SELECT * FROM place_description AS description
      WHERE description.place_id = asked AND description.rank = level.rank ORDER BY description.number LIMIT 50) AS counted
    WHERE CASE WHEN (SELECT is_own FROM place WHERE place.id = asked) THEN counted.rank <> 1
      ELSE counted.rank < 2
        OR NOT EXISTS (SELECT FROM place_description AS final WHERE final.place_id = asked AND final.rank = 0) END),
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
