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

-- The words of a folded text, without those of one letter: what is not a letter of ASCII divides words only if it is of
-- ASCII.
CREATE FUNCTION spellings(folded text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(DISTINCT word ORDER BY word), '{}')
  FROM regexp_split_to_table(folded, '[\x01-\x60\x7b-\x7f]+') AS word WHERE length(word) > 1
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
-- User names are told apart by one rule, that of Profile.folded(userName:): ASCII letters without regard to case, whatever the locale of
-- the database. lower() of a Turkish one makes another letter of an I. Names are found by their beginning in it as well.
CREATE UNIQUE INDEX app_user_folded_user_name ON app_user (lower(user_name COLLATE "C")) WHERE user_name IS NOT NULL;
CREATE INDEX app_user_name_start ON app_user (folded_name text_pattern_ops) WHERE folded_name IS NOT NULL;
-- Without a list of pending entries, which each search reads whole: profiles change rarely.
CREATE INDEX app_user_spellings ON app_user USING gin (spellings(folded_names)) WITH (fastupdate = off);

-- Names are found in spite of typing errors by their spellings: trigrams find the spellings that are close to a word, of
-- which there are far fewer than users, and an index finds the users who have them. Trigrams of the names of all users
-- would be read in numbers that grow with the users.
CREATE TABLE spelling (
  word text PRIMARY KEY
);
CREATE INDEX spelling_trigrams ON spelling USING gin (word gin_trgm_ops) WITH (fastupdate = off);

-- Keeps the spellings that a user has, and drops those that no user has any more. A user who gets a spelling locks it, and
-- who loses it waits for these locks before looking for others who have it: none is dropped that a user gets meanwhile. All
-- spellings of a change are locked in their order.
CREATE FUNCTION keep_spellings() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  former text[] := CASE WHEN TG_OP = 'INSERT' THEN '{}' ELSE spellings(OLD.folded_names) END;
  latter text[] := CASE WHEN TG_OP = 'DELETE' THEN '{}' ELSE spellings(NEW.folded_names) END;
  changed text;
BEGIN
  FOR changed IN
    (SELECT unnest(former) EXCEPT SELECT unnest(latter)) UNION ALL (SELECT unnest(latter) EXCEPT SELECT unnest(former))
    ORDER BY 1
  LOOP
    IF changed = ANY (latter) THEN
      LOOP
        INSERT INTO spelling (word) VALUES (changed) ON CONFLICT DO NOTHING;
        PERFORM FROM spelling WHERE word = changed FOR KEY SHARE;
        EXIT WHEN FOUND;
      END LOOP;
    ELSE
      PERFORM FROM spelling WHERE word = changed FOR UPDATE;
      DELETE FROM spelling WHERE word = changed
        AND NOT EXISTS (SELECT FROM app_user WHERE spellings(folded_names) @> ARRAY[changed]);
    END IF;
  END LOOP;
  RETURN NULL;
END $$;
CREATE TRIGGER app_user_named AFTER INSERT ON app_user FOR EACH ROW
  WHEN (NEW.folded_names ~ '[^ ]') EXECUTE FUNCTION keep_spellings();
CREATE TRIGGER app_user_renamed AFTER UPDATE OF user_name, name, given_name, family_name ON app_user FOR EACH ROW
  WHEN (OLD.folded_names <> NEW.folded_names) EXECUTE FUNCTION keep_spellings();
CREATE TRIGGER app_user_unnamed AFTER DELETE ON app_user FOR EACH ROW
  WHEN (OLD.folded_names ~ '[^ ]') EXECUTE FUNCTION keep_spellings();

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
