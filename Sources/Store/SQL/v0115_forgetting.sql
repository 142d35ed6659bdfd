-- Users who are being deleted. Nothing more is stored for them; the row goes with the last that mentions the user.
CREATE TABLE forgetting (
  -- The id of the job, whose arguments do not name the user.
  job uuid PRIMARY KEY,
  user_id text NOT NULL UNIQUE,
  requested_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
-- What a user wrote and submitted anywhere.
CREATE INDEX comment_author ON comment (author);
CREATE INDEX image_submitter ON image (author) WHERE author IS NOT NULL;
