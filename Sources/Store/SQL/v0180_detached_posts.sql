-- A post with many likes, comments or reactions is detached by its deletion: another id and another author take it from everybody, and its rows
-- go in pages. The author has the former id after these words, by which the likes are found. They go with the row, as before, whatever version
-- of the program deletes it.
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
    IF starts_with(OLD.author, 'deleted post ') THEN
      DELETE FROM relation WHERE target = substr(OLD.author, length('deleted post ') + 1);
    END IF;
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
