-- The service refuses requests that act as these users.
CREATE TABLE suspension (
  user_id text PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- How often that table has changed: who keeps a copy of it reads it again when this number differs.
CREATE TABLE suspension_change (
  number bigint NOT NULL,
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only)
);
INSERT INTO suspension_change (number) VALUES (0);
CREATE FUNCTION suspension_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE suspension_change SET number = number + 1;
  RETURN NULL;
END $$;
CREATE TRIGGER suspension_changed AFTER INSERT OR DELETE ON suspension
  FOR EACH ROW EXECUTE FUNCTION suspension_changed();
