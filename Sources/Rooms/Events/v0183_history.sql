-- The history of the database. Another one begins where the database lacks what it had committed: a backup was restored, or a standby was
-- promoted that had not received everything. What is numbered from then on is numbered above it, so that no number means two things.
-- A table of its own: each number reads it, and event_position has a version for each placement, of which none goes while a backup runs.
CREATE TABLE event_history (
  -- There is one.
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- The microseconds since 2026 at which the history began, so that two that begin at the same row are apart. 0: the first one.
  after bigint NOT NULL DEFAULT 0,
  -- The last opening or closing of a window when it began, as in the id of an event.
  window_before bigint NOT NULL DEFAULT 0,
  -- Whose history it is: the identifier and the timeline of a cluster.
  server text,
  -- When the server was started that has it, and the table: while both are the same, nothing is compared.
  started timestamptz,
  relation oid
);

-- A server that shows neither has a new history with each start. Any other error passes, and the transaction is repeated.
CREATE FUNCTION server_history() RETURNS text LANGUAGE plpgsql AS $$
BEGIN
  -- The control file has the timeline of a promoted server only after its first checkpoint.
  RETURN (SELECT system_identifier FROM pg_control_system()) || ' ' || left(pg_walfile_name(pg_current_wal_lsn()), 8);
EXCEPTION WHEN insufficient_privilege OR undefined_function OR feature_not_supported THEN
  RETURN 'started ' || extract(epoch FROM pg_postmaster_start_time());
END $$;

-- The number that those of the present history are above. It begins the history if the database has another one than the row.
CREATE FUNCTION history_after() RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  present text;
  began bigint;
BEGIN
  SELECT after INTO began FROM event_history WHERE started = pg_postmaster_start_time() AND relation = tableoid;
  IF FOUND THEN
    RETURN began;
  END IF;
  present := server_history();
  SELECT after INTO began FROM event_history WHERE server = present AND relation = tableoid;
  IF FOUND THEN
    -- The server was started again, and has the same history. One session notes it; the others do not wait for its commit, since what it locks
    -- until then may be what they hold.
    PERFORM FROM event_history WHERE server = present AND relation = tableoid FOR UPDATE SKIP LOCKED;
    IF FOUND THEN
      UPDATE event_history SET started = pg_postmaster_start_time() WHERE server = present AND relation = tableoid;
    END IF;
    RETURN began;
  END IF;
  -- Another one begins. One session begins it: the others wait for its commit, and find it. The row of the positions is locked first, that of
  -- the history after it: a worker of the version before has the one when it comes here.
  PERFORM FROM event_position FOR UPDATE;
  SELECT after INTO began FROM event_history WHERE server = present AND relation = tableoid;
  IF FOUND THEN
    RETURN began;
  END IF;
  -- A clock that is behind leaves a distance to the numbers that were lost.
  UPDATE event_position SET last = greatest(
    (extract(epoch FROM clock_timestamp() - timestamptz '2026-01-01 00:00:00+00') * 1000000)::bigint,
    1000000 + greatest(last, (SELECT max(count.last) FROM user_event_count AS count)))
  RETURNING last INTO began;
  UPDATE event_history SET after = began, server = present, started = pg_postmaster_start_time(), relation = tableoid,
    window_before = coalesce((SELECT 2 * id + (closes_at <= clock_timestamp())::int FROM daily_window ORDER BY id DESC LIMIT 1), 0);
  RETURN began;
END $$;

INSERT INTO event_history (server, started, relation) VALUES (server_history(), pg_postmaster_start_time(), 'event_history'::regclass);

CREATE FUNCTION number_event() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.last := greatest(NEW.last, history_after() + 1);
  RETURN NEW;
END $$;
CREATE TRIGGER number_event BEFORE INSERT OR UPDATE OF last ON user_event_count FOR EACH ROW EXECUTE FUNCTION number_event();
