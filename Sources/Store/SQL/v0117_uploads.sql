-- The uploads that a post awaits: before all of them are whole, it has neither sources nor a job.
CREATE TABLE awaited_upload (
  upload uuid PRIMARY KEY,
  post_id bigint NOT NULL REFERENCES post ON DELETE CASCADE,
  part text NOT NULL,
  place smallint NOT NULL,
  -- The id of the request that has submitted the post, for the log of the worker.
  request text
);
CREATE INDEX awaited_upload_post ON awaited_upload (post_id);

-- What a user or an API key has sent on a day in UTC; counted only where a quota is set.
CREATE TABLE daily_usage (
  day date NOT NULL,
  sender text NOT NULL,
  posts bigint NOT NULL,
  bytes bigint NOT NULL,
  PRIMARY KEY (day, sender)
);

-- The hash of the head of a request with media, by which its repetition is recognized before the body is sent.
ALTER TABLE idempotent_answer ADD COLUMN head bytea;
