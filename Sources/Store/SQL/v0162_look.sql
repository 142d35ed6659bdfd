-- The first look of a post: a set of what can be shown of its media before its outputs are complete.

-- Who sees the current set of a post that is being processed, which is a first look; NULL: the set is no first look.
ALTER TABLE post ADD COLUMN look text;
-- Every row has NULL: none is read to see that.
ALTER TABLE post ADD CONSTRAINT post_look_check CHECK (look IN ('author', 'viewers')) NOT VALID;

-- A first look ends when the post is no longer being processed, whichever statement writes that: it gives way to the outputs, or goes with
-- the media that were refused. An older program takes it for the outputs of a post whose job was lost, or for its photos: that fails.
CREATE FUNCTION post_look_ends() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.status = 'processing' OR NEW.status = 'ready' AND NEW.asset_set_id = OLD.asset_set_id THEN
    RAISE EXCEPTION 'the media of a post that is processed are its first look' USING ERRCODE = 'object_not_in_prerequisite_state';
  END IF;
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
