-- The users who were deleted, by the SHA-256 of their ids, until no machine can have an upload of theirs any more: a deletion
-- reaches only the uploads on the machine of the worker that performs it.
CREATE TABLE forgotten_user (
  digest bytea PRIMARY KEY,
  forgotten_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
