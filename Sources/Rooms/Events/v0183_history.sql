-- The history of the database. Another one begins where the database lacks what it had committed: a backup was restored, or a standby was
-- promoted that had not received everything. What is numbered from then on is numbered above history_after, so that no number means two things.
ALTER TABLE event_position
  -- The microseconds since 2026 at which the history began, so that two that begin at the same row are apart. 0: the first one.
  ADD COLUMN history_after bigint NOT NULL DEFAULT 0,
  -- The last opening or closing of a window when it began, as in the id of an event.
  ADD COLUMN window_before bigint NOT NULL DEFAULT 0,
  -- Whose history it is: the identifier and the timeline of a cluster.
  ADD COLUMN server text,
  -- When the server was started that has it, and the table: while both are the same, nothing is compared.
  ADD COLUMN started timestamptz, ADD COLUMN relation oid;

-- A server that shows neither has a new history with each start.
CREATE FUNCTION server_history() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  -- The control file has the timeline of a promoted server only after its first checkpoint.
  RETURN (SELECT system_identifier FROM pg_control_system()) || ' ' || left(pg_walfile_name(pg_current_wal_lsn()), 8);
EXCEPTION WHEN OTHERS THEN
  RETURN 'started ' || extract(epoch FROM pg_postmaster_start_time());
END $$;

-- The number that those of the present history are above. It begins the history if the database has another one than the row.
CREATE FUNCTION history_after() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  present text;
  began bigint;
BEGIN
  SELECT history_after INTO began FROM event_position WHERE started = pg_postmaster_start_time() AND relation = tableoid;
  IF FOUND THEN
    RETURN began;
  END IF;
  -- One session compares. The others wait for its commit, and find the same.
  PERFORM FROM event_position FOR UPDATE;
  present := server_history();
  UPDATE event_position SET started = pg_postmaster_start_time() WHERE server = present AND relation = tableoid
  RETURNING history_after INTO began;
  IF FOUND THEN
    RETURN began;
  END IF;
  UPDATE event_position SET history_after = fresh, last = fresh, server = present, started = pg_postmaster_start_time(),
    relation = event_position.tableoid, window_before = coalesce((
      SELECT 2 * id + (closes_at <= clock_timestamp())::int FROM daily_window ORDER BY id DESC LIMIT 1), 0)
  FROM (
    -- A clock that is behind leaves a distance to the numbers that were lost.
    SELECT greatest((extract(epoch FROM clock_timestamp() - timestamptz '2026-01-01 00:00:00+00') * 1000000)::bigint,
      1000000 + greatest((SELECT max(position.last) FROM event_position AS position), (SELECT max(count.last) FROM user_event_count AS count))
    ) AS fresh) AS numbers
  RETURNING history_after INTO began;
  RETURN began;
END $$;

UPDATE event_position SET server = server_history(), started = pg_postmaster_start_time(), relation = tableoid;

CREATE FUNCTION number_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.last := greatest(NEW.last, history_after() + 1);
  RETURN NEW;
END $$;
CREATE TRIGGER number_event BEFORE INSERT OR UPDATE OF last ON user_event_count FOR EACH ROW EXECUTE FUNCTION number_event();
