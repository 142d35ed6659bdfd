-- The uploads that a post awaits: before all of them are whole, it has neither sources nor a job.
CREATE TABLE awaited_upload (
  upload uuid PRIMARY KEY,
  post_id bigint NOT NULL REFERENCES post ON DELETE CASCADE,
  part text NOT NULL,
  place smallint NOT NULL,
  -- The id of the request that has submitted the post, for the log of the worker, and its traceparent, for the job.
  request text,
  trace text
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

-- Responses to requests with an Idempotency-Key, until they expire, so that retries make no duplicate.
CREATE TABLE idempotent_answer (
  -- Of the API key; empty where none is needed.
  tenant text NOT NULL,
  key text NOT NULL,
  -- Of the request: another payload under the same key is refused.
  fingerprint bytea NOT NULL,
  status int NOT NULL,
  location text,
  body bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The hash of the head of a request with media, by which its repetition is recognized before the body is sent.
  head bytea,
  PRIMARY KEY (tenant, key)
);
CREATE INDEX idempotent_answer_age ON idempotent_answer (created_at);

-- The users whom a response names, so that the deletion of one finds it: the owner of the key after a slash, and what the encoder writes for
-- an author and an owner. The bytes of the body are compared in the form of encode(), which fails for no body.
CREATE FUNCTION answer_users(tenant text, body bytea) RETURNS text[] LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ARRAY(
    SELECT substr(tenant, strpos(tenant, '/')) WHERE strpos(tenant, '/') > 0
    UNION
    SELECT found[1]
    FROM regexp_matches(
      encode(body, 'escape'), '("(?:author|owner)":"(?:[^"\\]|\\[0-7]{3}|\\\\(?:\\\\|[^\\]))*")', 'g') AS found)
$$;
CREATE INDEX idempotent_answer_users ON idempotent_answer USING gin (answer_users(tenant, body)) WITH (fastupdate = off);
