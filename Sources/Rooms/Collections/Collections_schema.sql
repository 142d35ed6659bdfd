-- Collections: itineraries, lists of favourites, albums. Which fields and items one has is said by the definition of its kind.

CREATE TABLE collection (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  kind text NOT NULL,
  author text NOT NULL,
  name text NOT NULL,
  fields jsonb NOT NULL,
  -- The hash of the secret whose knowledge suffices to see it. NULL: there is no link.
  link bytea CHECK (length(link) = 32),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  updated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Each change of its content adds one.
  revision bigint NOT NULL DEFAULT 1,
  -- Counters. Triggers keep all but that of comments.
  item_count int NOT NULL DEFAULT 0,
  member_count int NOT NULL DEFAULT 0,
  comment_count int NOT NULL DEFAULT 0,
  -- Whether a moderator has hidden it.
  is_hidden boolean NOT NULL DEFAULT false
);
CREATE INDEX collection_author ON collection (author, created_at DESC, id DESC);

-- Each item is a place or a post, and is in a collection once.
CREATE TABLE collection_item (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  collection_id bigint NOT NULL REFERENCES collection ON DELETE CASCADE,
  position int NOT NULL,
  place_id text,
  post_id bigint REFERENCES post ON DELETE CASCADE,
  fields jsonb NOT NULL,
  CHECK (num_nonnulls(place_id, post_id) = 1),
  UNIQUE (collection_id, place_id),
  UNIQUE (collection_id, post_id)
);
CREATE INDEX collection_item_order ON collection_item (collection_id, position);
CREATE INDEX collection_item_place ON collection_item (place_id) WHERE place_id IS NOT NULL;
CREATE INDEX collection_item_post ON collection_item (post_id) WHERE post_id IS NOT NULL;

CREATE TABLE collection_member (
  collection_id bigint NOT NULL REFERENCES collection ON DELETE CASCADE,
  user_id text NOT NULL,
  role text NOT NULL CHECK (role IN ('viewer', 'editor')),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (collection_id, user_id)
);
CREATE INDEX collection_member_user ON collection_member (user_id);

-- What was done with a collection: the latest of it.
CREATE TABLE collection_activity (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  collection_id bigint NOT NULL REFERENCES collection ON DELETE CASCADE,
  kind text NOT NULL,
  -- Who did it, and the member whom it is about. NULL: a client that acts as no user, or a user who was deleted.
  user_id text,
  member text,
  -- What was edited.
  keys text[],
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX collection_activity_newest ON collection_activity (collection_id, id DESC);
CREATE INDEX collection_activity_user ON collection_activity (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX collection_activity_member ON collection_activity (member) WHERE member IS NOT NULL;

-- The lock order is: the jobs, the posts, then the collection and its rows, then users and places in the order of their ids.
CREATE FUNCTION collection_items() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  PERFORM FROM collection WHERE id IN (SELECT collection_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  UPDATE collection SET item_count = item_count + step * counted.items
  FROM (SELECT collection_id, count(*)::int AS items FROM changed GROUP BY collection_id) AS counted
  WHERE id = counted.collection_id;
  -- A place that only collections have is not known: its row is there for the counter.
  IF TG_OP = 'INSERT' THEN
    INSERT INTO place (id) SELECT DISTINCT place_id FROM changed WHERE place_id IS NOT NULL ORDER BY place_id
    ON CONFLICT DO NOTHING;
  END IF;
  PERFORM FROM place WHERE id IN (SELECT place_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  UPDATE place SET collection_count = collection_count + step * counted.items
  FROM (SELECT place_id, count(*) AS items FROM changed WHERE place_id IS NOT NULL GROUP BY place_id) AS counted
  WHERE id = counted.place_id;
  RETURN NULL;
END $$;
CREATE TRIGGER collection_item_added AFTER INSERT ON collection_item REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION collection_items();
CREATE TRIGGER collection_item_deleted AFTER DELETE ON collection_item REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION collection_items();

CREATE FUNCTION collection_members() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  PERFORM FROM collection WHERE id IN (SELECT collection_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  UPDATE collection SET member_count = member_count + step * counted.members
  FROM (SELECT collection_id, count(*)::int AS members FROM changed GROUP BY collection_id) AS counted
  WHERE id = counted.collection_id;
  RETURN NULL;
END $$;
CREATE TRIGGER collection_member_added AFTER INSERT ON collection_member REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION collection_members();
CREATE TRIGGER collection_member_deleted AFTER DELETE ON collection_member REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION collection_members();
