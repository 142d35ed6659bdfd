-- A post for viewers from an age on counts where everybody reads the count only for its author: among the private posts of a profile, and
-- not at its place and on the map.

CREATE OR REPLACE FUNCTION post_counts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was text := CASE WHEN TG_OP <> 'INSERT' AND OLD.status = 'ready' THEN CASE WHEN OLD.min_age IS NULL THEN OLD.visibility ELSE 'private' END END;
  present text := CASE WHEN TG_OP <> 'DELETE' AND NEW.status = 'ready' THEN CASE WHEN NEW.min_age IS NULL THEN NEW.visibility ELSE 'private' END END;
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO app_user (id) VALUES (NEW.author) ON CONFLICT DO NOTHING;
  END IF;
  IF TG_OP = 'DELETE' THEN
    DELETE FROM relation WHERE target = OLD.public_id::text;
  END IF;
  IF was IS NOT NULL THEN
    UPDATE app_user SET public_posts = public_posts - (was = 'public')::int, friends_posts = friends_posts - (was = 'friends')::int,
      private_posts = private_posts - (was = 'private')::int
    WHERE id = OLD.author;
  END IF;
  IF present IS NOT NULL THEN
    UPDATE app_user SET public_posts = public_posts + (present = 'public')::int, friends_posts = friends_posts + (present = 'friends')::int,
      private_posts = private_posts + (present = 'private')::int
    WHERE id = NEW.author;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER post_counted_aged AFTER UPDATE OF min_age ON post FOR EACH ROW
  WHEN (OLD.min_age IS DISTINCT FROM NEW.min_age AND OLD.status = NEW.status AND OLD.visibility = NEW.visibility)
  EXECUTE FUNCTION post_counts();

-- As before; public posts with an age are not there.
CREATE OR REPLACE FUNCTION post_places() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was text := CASE WHEN TG_OP <> 'INSERT' AND OLD.status = 'ready'
    AND (OLD.visibility = 'friends' OR OLD.visibility = 'public' AND OLD.min_age IS NULL) THEN OLD.place_id END;
  present text := CASE WHEN TG_OP <> 'DELETE' AND NEW.status = 'ready'
    AND (NEW.visibility = 'friends' OR NEW.visibility = 'public' AND NEW.min_age IS NULL) THEN NEW.place_id END;
BEGIN
  IF was = present AND OLD.visibility = NEW.visibility THEN
    PERFORM count_post(NEW, 0);
  ELSE
    IF was <= present OR present IS NULL AND was IS NOT NULL THEN PERFORM count_post(OLD, -1); END IF;
    IF present IS NOT NULL THEN PERFORM count_post(NEW, 1); END IF;
    IF was > present THEN PERFORM count_post(OLD, -1); END IF;
  END IF;
  IF TG_OP <> 'DELETE' AND present IS NULL AND NEW.place_id IS NOT NULL AND NEW.status = 'ready' AND NEW.visibility <> 'private' THEN
    INSERT INTO place (id) VALUES (NEW.place_id) ON CONFLICT DO NOTHING;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER post_place_aged AFTER UPDATE OF min_age ON post FOR EACH ROW
  WHEN (OLD.min_age IS DISTINCT FROM NEW.min_age AND NEW.place_id IS NOT NULL
    AND (OLD.status, OLD.visibility, OLD.place_id, OLD.place_name, OLD.place_latitude, OLD.place_longitude)
      IS NOT DISTINCT FROM (NEW.status, NEW.visibility, NEW.place_id, NEW.place_name, NEW.place_latitude, NEW.place_longitude))
  EXECUTE FUNCTION post_places();
-- Who is old enough knows of a place by such posts alone.
CREATE INDEX post_place_aged ON post (place_id, min_age)
  WHERE place_id IS NOT NULL AND min_age IS NOT NULL AND status = 'ready' AND visibility = 'public';

-- As before, without them.
CREATE OR REPLACE FUNCTION post_activity() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was point := CASE WHEN TG_OP <> 'INSERT' AND OLD.status = 'ready' AND OLD.visibility = 'public' AND OLD.min_age IS NULL THEN OLD.position END;
  present point := CASE WHEN TG_OP <> 'DELETE' AND NEW.status = 'ready' AND NEW.visibility = 'public' AND NEW.min_age IS NULL THEN NEW.position END;
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
CREATE CONSTRAINT TRIGGER post_activity_aged AFTER UPDATE OF min_age ON post DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.min_age IS DISTINCT FROM NEW.min_age AND NEW.map_cell IS NOT NULL
    AND (OLD.status, OLD.visibility, OLD.latitude, OLD.longitude, OLD.place_latitude, OLD.place_longitude)
      IS NOT DISTINCT FROM (NEW.status, NEW.visibility, NEW.latitude, NEW.longitude, NEW.place_latitude, NEW.place_longitude))
  EXECUTE FUNCTION post_activity();

-- The posts that are there already.
UPDATE app_user SET public_posts = public_posts - aged.open, friends_posts = friends_posts - aged.friends,
  private_posts = private_posts + aged.open + aged.friends
FROM (
  SELECT author, count(*) FILTER (WHERE visibility = 'public') AS open, count(*) FILTER (WHERE visibility = 'friends') AS friends
  FROM post WHERE min_age IS NOT NULL AND status = 'ready' AND visibility <> 'private' GROUP BY author) AS aged
WHERE id = aged.author;
SELECT count_post(post, -1) FROM post
WHERE min_age IS NOT NULL AND status = 'ready' AND visibility = 'public' AND place_id IS NOT NULL ORDER BY place_id, id;
INSERT INTO map_activity AS activity (period, level, cell, start, posts, longitudes, latitudes)
SELECT period, level, cell, start, -count(*), -sum(round(position[0] * 1e6)::bigint), -sum(round(position[1] * 1e6)::bigint)
FROM post, map_cells(position, created_at)
WHERE min_age IS NOT NULL AND status = 'ready' AND visibility = 'public' AND map_cell IS NOT NULL
GROUP BY period, level, cell, start ORDER BY level, period, cell, start
ON CONFLICT (period, level, cell, start) DO UPDATE SET posts = activity.posts + excluded.posts,
  longitudes = activity.longitudes + excluded.longitudes, latitudes = activity.latitudes + excluded.latitudes;
DELETE FROM map_activity WHERE posts <= 0;

-- Whether a user whose birth date is unknown sees posts from an age on: an operator decides.
CREATE TABLE age_rule (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  admits_unknown boolean NOT NULL
);
INSERT INTO age_rule (admits_unknown) VALUES (true);
