-- While a backup is made nothing is collected: a dump that was begun names blobs that others let go of meanwhile.
CREATE TABLE collection_hold (
  -- There is one at most.
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- It ends by itself: nobody has to remember it.
  ends_at timestamptz NOT NULL
);
