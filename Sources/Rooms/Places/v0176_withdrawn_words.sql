-- The public posts of one user at one place, the latest first.
CREATE INDEX post_place_author ON post (place_id, author, id DESC)
  WHERE place_id IS NOT NULL AND visibility = 'public' AND status = 'ready' AND min_age IS NULL;

-- What the public posts of a user say of a place after one of them has changed or gone: what the latest of the others says.
CREATE FUNCTION say_again(place text, speaker text) RETURNS void LANGUAGE sql AS $$
  UPDATE place_description SET name = (
      SELECT place_name FROM post
      WHERE post.place_id = place AND author = speaker AND status = 'ready' AND visibility = 'public' AND min_age IS NULL AND place_name <> ''
      ORDER BY id DESC LIMIT 1),
    (latitude, longitude) = (
      SELECT place_latitude, place_longitude FROM post
      WHERE post.place_id = place AND author = speaker AND status = 'ready' AND visibility = 'public' AND min_age IS NULL
        AND place_latitude IS NOT NULL
      ORDER BY id DESC LIMIT 1)
  WHERE place_id = place AND user_id = speaker AND rank = 1
$$;

-- As before, and what a public post has said goes with it.
CREATE OR REPLACE FUNCTION count_post(counted post, step int) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  now_there bigint;
BEGIN
  -- A row that does not change is locked all the same.
  INSERT INTO place AS named (id) VALUES (counted.place_id) ON CONFLICT (id) DO UPDATE SET id = excluded.id WHERE false;
  IF counted.visibility = 'friends' THEN
    INSERT INTO place_friend AS present (place_id, user_id, posts) VALUES (counted.place_id, counted.author, step)
    ON CONFLICT (place_id, user_id) DO UPDATE SET posts = present.posts + step RETURNING posts INTO now_there;
    IF now_there = 0 THEN
      DELETE FROM place_friend WHERE place_id = counted.place_id AND user_id = counted.author;
    ELSE
      UPDATE place_friend SET (name, latitude, longitude) = (
        SELECT (array_agg(place_name ORDER BY id DESC) FILTER (WHERE place_name <> ''))[1],
          (array_agg(place_latitude ORDER BY id DESC) FILTER (WHERE place_latitude IS NOT NULL))[1],
          (array_agg(place_longitude ORDER BY id DESC) FILTER (WHERE place_longitude IS NOT NULL))[1]
        FROM post WHERE post.place_id = counted.place_id AND author = counted.author AND status = 'ready' AND visibility = 'friends')
      WHERE place_id = counted.place_id AND user_id = counted.author;
    END IF;
    RETURN;
  END IF;
  IF step >= 0 AND (counted.place_name <> '' OR counted.place_latitude IS NOT NULL) THEN
    INSERT INTO place_description AS said (place_id, user_id, rank, name, latitude, longitude)
    VALUES (counted.place_id, counted.author, 1, nullif(counted.place_name, ''), counted.place_latitude, counted.place_longitude)
    ON CONFLICT (place_id, rank, user_id) DO UPDATE SET name = coalesce(excluded.name, said.name),
      latitude = coalesce(excluded.latitude, said.latitude), longitude = coalesce(excluded.longitude, said.longitude)
    WHERE (coalesce(excluded.name, said.name), coalesce(excluded.latitude, said.latitude), coalesce(excluded.longitude, said.longitude))
      IS DISTINCT FROM (said.name, said.latitude, said.longitude);
  END IF;
  IF step = 0 THEN
    PERFORM say_again(counted.place_id, counted.author);
    RETURN;
  END IF;
  INSERT INTO place_user AS present (place_id, user_id, posts) VALUES (counted.place_id, counted.author, step)
  ON CONFLICT (place_id, user_id) DO UPDATE SET posts = present.posts + step RETURNING posts INTO now_there;
  IF now_there = 0 THEN
    DELETE FROM place_user WHERE place_id = counted.place_id AND user_id = counted.author;
    DELETE FROM place_description WHERE place_id = counted.place_id AND user_id = counted.author AND rank = 1;
  ELSIF step = -1 AND (counted.place_name <> '' OR counted.place_latitude IS NOT NULL) THEN
    PERFORM say_again(counted.place_id, counted.author);
  END IF;
  UPDATE place SET post_count = post_count + step,
    author_count = author_count + CASE WHEN step = 1 AND now_there = 1 THEN 1 WHEN now_there = 0 THEN -1 ELSE 0 END
  WHERE id = counted.place_id;
END $$;

-- As before; a place that only a post described, which is for friends, for adults, private or not ready now, loses what the post said, and nothing that
-- others said who are gone. One whose post is deleted keeps it: it belongs to the app.
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
  IF TG_OP = 'UPDATE' AND was IS NOT NULL AND OLD.visibility = 'public' AND (NEW.status <> 'ready'
    OR NEW.visibility <> 'public' OR NEW.min_age IS NOT NULL) THEN
    UPDATE place SET name = nullif(name, OLD.place_name),
      (latitude, longitude) = (
        SELECT latitude, longitude WHERE (latitude, longitude) IS DISTINCT FROM (OLD.place_latitude, OLD.place_longitude))
    WHERE id = was AND NOT is_own AND NOT EXISTS (SELECT FROM place_description WHERE place_id = was);
  END IF;
  RETURN NULL;
END $$;

-- What posts said that have been withdrawn since.
UPDATE place_description AS said SET name = words.name, latitude = words.latitude, longitude = words.longitude
FROM (
  SELECT place_id, user_id, named.place_name AS name, located.place_latitude AS latitude, located.place_longitude AS longitude
  FROM place_description
  LEFT JOIN LATERAL (
    SELECT place_name FROM post
    WHERE post.place_id = place_description.place_id AND author = user_id AND status = 'ready' AND visibility = 'public' AND min_age IS NULL
      AND place_name <> ''
    ORDER BY id DESC LIMIT 1) AS named ON true
  LEFT JOIN LATERAL (
    SELECT place_latitude, place_longitude FROM post
    WHERE post.place_id = place_description.place_id AND author = user_id AND status = 'ready' AND visibility = 'public' AND min_age IS NULL
      AND place_latitude IS NOT NULL
    ORDER BY id DESC LIMIT 1) AS located ON true
  WHERE rank = 1) AS words
WHERE said.place_id = words.place_id AND said.user_id = words.user_id AND said.rank = 1
  AND (said.name, said.latitude, said.longitude) IS DISTINCT FROM (words.name, words.latitude, words.longitude);
