-- When the moment of a post was: a calendar has it on that day.

-- The time that the camera gave, if it is believable: a phone may be offline for weeks, and its clock a little fast.
ALTER TABLE post ADD COLUMN taken_at timestamptz GENERATED ALWAYS AS (
  CASE WHEN captured_at - created_at BETWEEN interval '-30 days' AND interval '5 minutes' THEN captured_at ELSE created_at END
) STORED;
CREATE INDEX post_taken ON post (author, taken_at DESC, id DESC);
