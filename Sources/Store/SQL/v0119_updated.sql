-- When a post was changed, so that an app asks only for what it has not seen.

ALTER TABLE post ADD COLUMN updated_at timestamptz;
UPDATE post SET updated_at = created_at;
ALTER TABLE post ALTER COLUMN updated_at SET DEFAULT clock_timestamp(), ALTER COLUMN updated_at SET NOT NULL;
CREATE INDEX post_updated ON post (updated_at DESC, id DESC);
CREATE INDEX post_author_updated ON post (author, updated_at DESC, id DESC);

-- What its version covers: its content, its status and its media. Comments, reactions and likes change their counts alone.
CREATE FUNCTION post_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.updated_at := clock_timestamp();
  RETURN NEW;
END $$;
CREATE TRIGGER post_updated BEFORE UPDATE ON post FOR EACH ROW
  WHEN ((OLD.status, OLD.reasons, OLD.asset_set_id, OLD.title, OLD.caption, OLD.visibility, OLD.place_id, OLD.place_name,
      OLD.place_latitude, OLD.place_longitude, OLD.latitude, OLD.longitude, OLD.foreground)
    IS DISTINCT FROM (NEW.status, NEW.reasons, NEW.asset_set_id, NEW.title, NEW.caption, NEW.visibility, NEW.place_id,
      NEW.place_name, NEW.place_latitude, NEW.place_longitude, NEW.latitude, NEW.longitude, NEW.foreground))
  EXECUTE FUNCTION post_changed();
