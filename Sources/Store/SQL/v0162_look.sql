-- The first look of a post: a set of what can be shown of its media before its outputs are complete.

-- Who sees the current set of a post that is being processed, which is a first look; NULL: the set is no first look.
ALTER TABLE post ADD COLUMN look text CHECK (look IN ('author', 'viewers'));

-- A first look ends when the post is no longer being processed, whoever writes that: it gives way to the outputs, or goes with the media
-- that were refused.
CREATE FUNCTION post_look_ends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.look := NULL;
  IF NEW.asset_set_id = OLD.asset_set_id THEN NEW.asset_set_id := NULL; END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER post_a_look BEFORE UPDATE ON post FOR EACH ROW
  WHEN (OLD.look IS NOT NULL AND (NEW.status <> 'processing' OR NEW.asset_set_id IS DISTINCT FROM OLD.asset_set_id))
  EXECUTE FUNCTION post_look_ends();

CREATE FUNCTION look_ended() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.asset_set_id IS NOT NULL THEN
    UPDATE asset_set SET retired_at = clock_timestamp(), replaced_by = NEW.asset_set_id WHERE id = OLD.asset_set_id;
  ELSE
    INSERT INTO blob_release (hash) SELECT DISTINCT blob FROM asset WHERE asset_set_id = OLD.asset_set_id;
    DELETE FROM asset_set WHERE id = OLD.asset_set_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER post_look_ended AFTER UPDATE ON post FOR EACH ROW
  WHEN (OLD.look IS NOT NULL AND NEW.look IS NULL)
  EXECUTE FUNCTION look_ended();
