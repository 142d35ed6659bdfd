-- How many public posts lie in each part of the map at which time, so that a map of everything costs as much as that of a street.

-- Sums over cells and periods. A cell of level 0 has 22.5 by 22.5 degrees, and one of each further level half of the width
-- and of the height; they are numbered as in ActivityMap.swift. A period is an hour, a day or a month in UTC.
CREATE TABLE map_activity (
  period text NOT NULL CHECK (period IN ('hour', 'day', 'month')),
  level smallint NOT NULL,
  cell bigint NOT NULL,
  start timestamptz NOT NULL,
  posts bigint NOT NULL,
  -- The sums of the coordinates in millionths of a degree: divided by the number of posts they are the center.
  longitudes bigint NOT NULL,
  latitudes bigint NOT NULL,
  PRIMARY KEY (period, level, cell, start)
) WITH (fillfactor = 80);
-- For the end of the hours.
CREATE INDEX map_activity_start ON map_activity (period, start);

-- The cells and periods of a post.
CREATE FUNCTION map_cells(place point, at timestamptz)
RETURNS TABLE (period text, level smallint, cell bigint, start timestamptz) LANGUAGE sql STABLE AS $$
  SELECT name, number::smallint,
    floor((place[0] + 180) / 22.5 * (1 << number))::bigint * ((8 << number) + 1)
      + floor((place[1] + 90) / 22.5 * (1 << number))::bigint,
    date_trunc(name, at, 'UTC')
  FROM generate_series(0, 13) AS level (number), unnest(ARRAY['month', 'day', 'hour']) AS period (name)
$$;

-- One transaction after another changes the cell of a continent, so each does that last, right before it commits.
CREATE FUNCTION post_activity() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was point := CASE WHEN TG_OP <> 'INSERT' AND OLD.status = 'ready' AND OLD.visibility = 'public' THEN OLD.position END;
  present point := CASE WHEN TG_OP <> 'DELETE' AND NEW.status = 'ready' AND NEW.visibility = 'public' THEN NEW.position END;
BEGIN
  IF was[0] IS NOT DISTINCT FROM present[0] AND was[1] IS NOT DISTINCT FROM present[1] THEN RETURN NULL; END IF;
  INSERT INTO map_activity AS activity (period, level, cell, start, posts, longitudes, latitudes)
  SELECT period, level, cell, start, sum(step), sum(step * round(place[0] * 1e6)::bigint), sum(step * round(place[1] * 1e6)::bigint)
  FROM (
    SELECT -1, was, OLD.created_at WHERE was[0] IS NOT NULL AND was[1] IS NOT NULL
    UNION ALL SELECT 1, present, NEW.created_at WHERE present[0] IS NOT NULL AND present[1] IS NOT NULL) AS change (step, place, at),
    map_cells(place, at)
  GROUP BY period, level, cell, start
  ORDER BY level, period, cell, start
  ON CONFLICT (period, level, cell, start) DO UPDATE SET posts = activity.posts + excluded.posts,
    longitudes = activity.longitudes + excluded.longitudes, latitudes = activity.latitudes + excluded.latitudes;
  IF was[0] IS NOT NULL AND was[1] IS NOT NULL THEN
    DELETE FROM map_activity AS activity USING map_cells(was, OLD.created_at) AS emptied
    WHERE activity.period = emptied.period AND activity.level = emptied.level AND activity.cell = emptied.cell
      AND activity.start = emptied.start AND activity.posts <= 0;
  END IF;
  RETURN NULL;
END $$;
CREATE CONSTRAINT TRIGGER post_activity_added AFTER INSERT ON post DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (NEW.status = 'ready' AND NEW.visibility = 'public' AND NEW.map_cell IS NOT NULL)
  EXECUTE FUNCTION post_activity();
CREATE CONSTRAINT TRIGGER post_activity_deleted AFTER DELETE ON post DEFERRABLE INITIALLY DEFERRED
  FOR EACH ROW WHEN (OLD.status = 'ready' AND OLD.visibility = 'public' AND OLD.map_cell IS NOT NULL)
  EXECUTE FUNCTION post_activity();
CREATE CONSTRAINT TRIGGER post_activity_changed AFTER UPDATE OF status, visibility, latitude, longitude, place_latitude, place_longitude
  ON post DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN ((OLD.status, OLD.visibility, OLD.latitude, OLD.longitude, OLD.place_latitude, OLD.place_longitude)
    IS DISTINCT FROM (NEW.status, NEW.visibility, NEW.latitude, NEW.longitude, NEW.place_latitude, NEW.place_longitude)
    AND (OLD.map_cell IS NOT NULL OR NEW.map_cell IS NOT NULL))
  EXECUTE FUNCTION post_activity();
