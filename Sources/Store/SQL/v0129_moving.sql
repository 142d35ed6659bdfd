-- While blobs move to another store, each process writes to both; a process that does not is refused as it inserts a blob.
ALTER TABLE blob_store
  -- The store that the blobs move to; NULL: they do not move.
  ADD COLUMN next_id uuid CHECK (next_id <> id),
  -- The store that they came from with the last move, which processes that write to both may still name first.
  ADD COLUMN previous_id uuid;
