-- Which folder the blobs lie in, and which of them are damaged.

-- The id that the marker in the folder has: another folder, or an empty one, is refused instead of filled.
CREATE TABLE blob_store (
  -- There is one at most.
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  id uuid NOT NULL,
  adopted_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Blobs whose file was found not to be what it should be; whoever publishes the right bytes removes the row.
CREATE TABLE blob_damage (
  hash bytea PRIMARY KEY REFERENCES blob ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('missing', 'truncated', 'corrupt')),
  found_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- How often it was to be made again, and by which run at last.
  attempts int NOT NULL DEFAULT 0,
  run uuid,
  -- When it is looked at again.
  next_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Why it cannot be made again; nil: it is being, or is to be.
  error text
);
CREATE INDEX blob_damage_next ON blob_damage (next_at);
