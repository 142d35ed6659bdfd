-- What nothing refers to any more waits before it is removed: a standby that is promoted may have lost the commit that released it, and refers to
-- it. A version of the program before this one inserts no time, and does not wait.
ALTER TABLE blob_release ADD COLUMN released_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE blob_release ALTER COLUMN released_at SET DEFAULT clock_timestamp();
CREATE INDEX blob_release_age ON blob_release (released_at, id);
CREATE INDEX blob_release_hash ON blob_release (hash);
