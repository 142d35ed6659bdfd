-- Names are found in spite of typing errors by their spellings: trigrams find the spellings that are close to a word, of
-- which there are far fewer than users, and an index finds the users who have them. Trigrams of the names of all users
-- would be read in numbers that grow with the users.

-- The words of a folded text, without those of one letter: what is not a letter of ASCII divides words only if it is of
-- ASCII.
CREATE FUNCTION spellings(folded text) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(DISTINCT word ORDER BY word), '{}')
  FROM regexp_split_to_table(folded, '[\x01-\x60\x7b-\x7f]+') AS word WHERE length(word) > 1
$$;

CREATE TABLE spelling (
  word text PRIMARY KEY
);
INSERT INTO spelling (word)
SELECT DISTINCT word FROM app_user, unnest(spellings(folded_names)) AS word;
CREATE INDEX spelling_trigrams ON spelling USING gin (word gin_trgm_ops) WITH (fastupdate = off);

-- Without a list of pending entries, which each search reads whole: profiles change rarely.
CREATE INDEX app_user_spellings ON app_user USING gin (spellings(folded_names)) WITH (fastupdate = off);
DROP INDEX app_user_names;

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
