-- Users who are being deleted. Nothing more is stored for them; the row goes with the last that mentions the user.
CREATE TABLE forgetting (
  -- The id of the job, whose arguments do not name the user.
  job uuid PRIMARY KEY,
  user_id text NOT NULL UNIQUE,
  requested_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The users who were deleted, by the SHA-256 of their ids, until no machine can have an upload of theirs any more: a deletion
-- reaches only the uploads on the machine of the worker that performs it.
CREATE TABLE forgotten_user (
  digest bytea PRIMARY KEY,
  forgotten_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- The deleted users of whom no upload can exist any more are the oldest.
CREATE INDEX forgotten_user_time ON forgotten_user (forgotten_at);
