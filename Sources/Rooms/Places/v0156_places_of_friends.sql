-- A place without a photo has the picture of its newest post.
CREATE INDEX post_picture ON post (place_id, created_at DESC, id DESC)
  WHERE place_id IS NOT NULL AND asset_set_id IS NOT NULL AND visibility <> 'private';

-- Who has posts for friends at a place, and what the latest of them say of it: a user who sees these posts sees the place.
CREATE TABLE place_friend (
  place_id text NOT NULL REFERENCES place ON DELETE CASCADE,
  user_id text NOT NULL,
  posts bigint NOT NULL,
  name text,
  latitude double precision,
  longitude double precision,
  position point GENERATED ALWAYS AS (point(longitude, latitude)) STORED,
  PRIMARY KEY (place_id, user_id)
);
CREATE INDEX place_friend_user ON place_friend (user_id);
CREATE INDEX place_friend_area ON place_friend USING gist (position);

-- Counts a public post at a place, or one for friends, or no longer. What the latest one of a user says of the place is what this user's
-- posts say, and of those for friends only to friends.
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

CREATE OR REPLACE FUNCTION post_places() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  was text := CASE WHEN TG_OP <> 'INSERT' AND OLD.status = 'ready' AND OLD.visibility <> 'private' THEN OLD.place_id END;
  present text := CASE WHEN TG_OP <> 'DELETE' AND NEW.status = 'ready' AND NEW.visibility <> 'private' THEN NEW.place_id END;
BEGIN
  IF was = present AND OLD.visibility = NEW.visibility THEN
    PERFORM count_post(NEW, 0);
  ELSE
    IF was <= present OR present IS NULL AND was IS NOT NULL THEN PERFORM count_post(OLD, -1); END IF;
    IF present IS NOT NULL THEN PERFORM count_post(NEW, 1); END IF;
    IF was > present THEN PERFORM count_post(OLD, -1); END IF;
  END IF;
  RETURN NULL;
END $$;

INSERT INTO place (id)
SELECT DISTINCT place_id FROM post WHERE place_id IS NOT NULL AND status = 'ready' AND visibility = 'friends' ORDER BY place_id
ON CONFLICT DO NOTHING;
INSERT INTO place_friend (place_id, user_id, posts, name, latitude, longitude)
SELECT place_id, author, count(*), (array_agg(place_name ORDER BY id DESC) FILTER (WHERE place_name <> ''))[1],
  (array_agg(place_latitude ORDER BY id DESC) FILTER (WHERE place_latitude IS NOT NULL))[1],
  (array_agg(place_longitude ORDER BY id DESC) FILTER (WHERE place_longitude IS NOT NULL))[1]
FROM post WHERE place_id IS NOT NULL AND status = 'ready' AND visibility = 'friends' GROUP BY place_id, author;
