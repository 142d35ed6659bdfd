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
