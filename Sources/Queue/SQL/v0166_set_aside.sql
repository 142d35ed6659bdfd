-- Rows of which one value cannot be read or computed with. The statements and pages that meet them go on with the other rows, and try these
-- again each hour.
CREATE TABLE row_set_aside (
  -- The table of the row, and its key there.
  relation text NOT NULL,
  row_key text NOT NULL,
  error text NOT NULL,
  -- When it is tried again.
  until timestamptz NOT NULL,
  -- Whether it is in the log and counted.
  is_reported boolean NOT NULL DEFAULT false,
  PRIMARY KEY (relation, row_key)
);
CREATE INDEX row_set_aside_new ON row_set_aside (relation) WHERE NOT is_reported;

-- An instant by the clock of a zone. The zones are those of the server's machine, and one that was known when it was stored may be gone: then
-- it counts as an offset from UTC. NULL if that is NULL.
CREATE FUNCTION local_time(instant timestamptz, zone_name text, utc_offset interval) RETURNS timestamp LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN instant AT TIME ZONE zone_name;
EXCEPTION WHEN data_exception THEN
  RETURN instant AT TIME ZONE utc_offset;
END $$;

-- The instant of a time by the clock of a zone, in the same way.
CREATE FUNCTION instant_of(local_time timestamp, zone_name text, utc_offset interval) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN local_time AT TIME ZONE zone_name;
EXCEPTION WHEN data_exception THEN
  RETURN local_time AT TIME ZONE utc_offset;
END $$;

-- The time that a text says; NULL: it says none.
CREATE FUNCTION finite_time(value text) RETURNS timestamptz LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN CASE WHEN isfinite(value::timestamptz) THEN value::timestamptz END;
EXCEPTION WHEN data_exception THEN
  RETURN NULL;
END $$;
