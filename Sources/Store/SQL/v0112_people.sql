-- Users and relations. Each author is a user, and so is each id that has a profile or a relation: an author needs no
-- registration.

-- pg_trgm finds names in spite of typing errors. It is a part of PostgreSQL's contrib modules, and trusted since version 13.
DO $$
BEGIN
  IF EXISTS (SELECT FROM pg_extension WHERE extname = 'pg_trgm') THEN RETURN; END IF;
  IF NOT EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm') THEN
    RAISE EXCEPTION 'the database server lacks the extension pg_trgm'
      USING HINT = 'Install the contrib modules of PostgreSQL on the server (Debian: the package postgresql has them).';
  END IF;
  CREATE EXTENSION pg_trgm;
EXCEPTION WHEN insufficient_privilege THEN
  RAISE EXCEPTION 'the role % may not create the extension pg_trgm', current_user
    USING HINT = 'Run CREATE EXTENSION pg_trgm in the database as a role that may, or grant CREATE on the database.';
END $$;

-- The text by which names are found: without accents, in lower case.
CREATE FUNCTION folded_name(name text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT lower(regexp_replace(normalize(name, NFD), '[\u0300-\u036F]', '', 'g'))
$$;

CREATE TABLE app_user (
  -- That the app has assigned.
  id text PRIMARY KEY,
  -- NULL: without one.
  user_name text CHECK (user_name ~ '^[A-Za-z0-9._-]{1,30}$'),
  name text,
  given_name text,
  family_name text,
  bio text,
  -- For the eyes of the user only, as the next column.
  birth_date date,
  email text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Of the profile: each change adds one.
  revision bigint NOT NULL DEFAULT 0,
  -- Counters, which triggers keep. Posts are counted while they are ready.
  public_posts bigint NOT NULL DEFAULT 0,
  friends_posts bigint NOT NULL DEFAULT 0,
  private_posts bigint NOT NULL DEFAULT 0,
  friends bigint NOT NULL DEFAULT 0,
  folded_name text GENERATED ALWAYS AS (folded_name(name)) STORED,
  -- All names, for words in the middle and for typing errors.
  folded_names text GENERATED ALWAYS AS (
    folded_name(coalesce(user_name, '') || ' ' || coalesce(name, '') || ' ' || coalesce(given_name, '') || ' '
      || coalesce(family_name, ''))) STORED
);
CREATE UNIQUE INDEX app_user_user_name ON app_user (lower(user_name)) WHERE user_name IS NOT NULL;
CREATE INDEX app_user_user_name_start ON app_user (lower(user_name) text_pattern_ops) WHERE user_name IS NOT NULL;
CREATE INDEX app_user_name_start ON app_user (folded_name text_pattern_ops) WHERE folded_name IS NOT NULL;
CREATE INDEX app_user_names ON app_user USING gin (folded_names gin_trgm_ops);

-- What a user has to a user, a post or a place. Users, posts and places are of one name space.
--
-- A friendship is two rows of the kind 'friend', one of each user's; a request that waits is one row 'request'. A block is
-- the row 'block' of the user who blocks and its mirror 'blocked' of the other one, so that one probe of an index finds a
-- block in either direction.
CREATE TABLE relation (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  user_id text NOT NULL,
  target text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (user_id, target, kind)
);
CREATE INDEX relation_user ON relation (kind, user_id, created_at DESC, id DESC);
-- The target comes first: what refers to a deleted post is found without its kind.
CREATE INDEX relation_target ON relation (target, kind, created_at DESC, id DESC);

ALTER TABLE post ADD COLUMN like_count int NOT NULL DEFAULT 0;

INSERT INTO app_user (id, public_posts, friends_posts, private_posts)
SELECT author, count(*) FILTER (WHERE status = 'ready' AND visibility = 'public'),
  count(*) FILTER (WHERE status = 'ready' AND visibility = 'friends'),
  count(*) FILTER (WHERE status = 'ready' AND visibility = 'private')
FROM post GROUP BY author;

-- Counters are kept here and nowhere else, so that the API, workers, operators and older versions are all right. The lock
-- order is: the jobs, then the post, then rows that refer to it, then users in the order of their ids.
CREATE FUNCTION post_counts() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO app_user (id) VALUES (NEW.author) ON CONFLICT DO NOTHING;
  END IF;
  IF TG_OP = 'DELETE' THEN
    DELETE FROM relation WHERE target = OLD.public_id::text;
  END IF;
  IF TG_OP <> 'INSERT' AND OLD.status = 'ready' THEN
    UPDATE app_user SET public_posts = public_posts - (OLD.visibility = 'public')::int,
      friends_posts = friends_posts - (OLD.visibility = 'friends')::int,
      private_posts = private_posts - (OLD.visibility = 'private')::int
    WHERE id = OLD.author;
  END IF;
  IF TG_OP <> 'DELETE' AND NEW.status = 'ready' THEN
    UPDATE app_user SET public_posts = public_posts + (NEW.visibility = 'public')::int,
      friends_posts = friends_posts + (NEW.visibility = 'friends')::int,
      private_posts = private_posts + (NEW.visibility = 'private')::int
    WHERE id = NEW.author;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER post_added AFTER INSERT ON post FOR EACH ROW EXECUTE FUNCTION post_counts();
CREATE TRIGGER post_deleted AFTER DELETE ON post FOR EACH ROW EXECUTE FUNCTION post_counts();
CREATE TRIGGER post_counted AFTER UPDATE OF status, visibility ON post FOR EACH ROW
  WHEN (OLD.status <> NEW.status OR OLD.visibility <> NEW.visibility) EXECUTE FUNCTION post_counts();

-- Once for each statement: a post with many likes, or a user with many friends, is one update.
CREATE FUNCTION relation_counts() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  IF EXISTS (SELECT FROM changed WHERE kind = 'like') THEN
    PERFORM FROM post WHERE public_id IN (SELECT target::uuid FROM changed WHERE kind = 'like')
    ORDER BY id FOR NO KEY UPDATE;
    UPDATE post SET like_count = like_count + step * liked.added
    FROM (SELECT target::uuid AS public_id, count(*)::int AS added FROM changed WHERE kind = 'like' GROUP BY target) AS liked
    WHERE post.public_id = liked.public_id;
  END IF;
  IF TG_OP = 'INSERT' THEN
    INSERT INTO app_user (id) SELECT DISTINCT user_id FROM changed WHERE kind <> 'blocked' ORDER BY user_id
    ON CONFLICT DO NOTHING;
  END IF;
  IF EXISTS (SELECT FROM changed WHERE kind = 'friend') THEN
    PERFORM FROM app_user WHERE id IN (SELECT user_id FROM changed WHERE kind = 'friend')
    ORDER BY id FOR NO KEY UPDATE;
    UPDATE app_user SET friends = app_user.friends + step * befriended.added
    FROM (SELECT user_id, count(*) AS added FROM changed WHERE kind = 'friend' GROUP BY user_id) AS befriended
    WHERE id = befriended.user_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER relation_added AFTER INSERT ON relation REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION relation_counts();
CREATE TRIGGER relation_deleted AFTER DELETE ON relation REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION relation_counts();
