-- The schedule is what operators set while the service runs, or else the option of a process. The secret decides at random when the
-- window opens on each day; no statement reads it for others.
ALTER TABLE window_schedule ADD COLUMN is_operators boolean NOT NULL DEFAULT false, ADD COLUMN set_at timestamptz, ADD COLUMN secret bytea;
-- A process of the version before, which opens the window by its option, leaves in place what operators have set.
CREATE FUNCTION keep_row() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';
CREATE TRIGGER keep_operators_schedule BEFORE UPDATE ON window_schedule FOR EACH ROW
  WHEN (OLD.is_operators AND NEW.schedule <> OLD.schedule AND NEW.set_at = OLD.set_at) EXECUTE FUNCTION keep_row();
