-- What concerns each user: the events of GET /v1/events.

-- The number of the last event of each user. The row is locked while an event is inserted, so that the numbers of one
-- user have no gaps and commit in their order: who has seen a number has seen all before it.
CREATE TABLE user_event_count (
  user_id text PRIMARY KEY,
  last bigint NOT NULL
);

CREATE TABLE user_event (
  user_id text NOT NULL,
  number bigint NOT NULL,
  kind text NOT NULL,
  -- The user who caused it. NULL: the service did.
  actor text,
  post uuid,
  -- The comment or the image that it is about.
  subject uuid,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, number)
);
CREATE INDEX user_event_age ON user_event (created_at);
-- For the deletion of a user.
CREATE INDEX user_event_actor ON user_event (actor) WHERE actor IS NOT NULL;

-- Tickets by which a web page opens its stream of events. A ticket is stored as its hash, and deleted when it is used.
CREATE TABLE event_ticket (
  hash bytea PRIMARY KEY CHECK (length(hash) = 32),
  user_id text NOT NULL,
  -- The credential of the client that got it: a user token, or as in user_token.
  token uuid,
  minter text NOT NULL,
  api_key_id bigint REFERENCES api_key,
  expires_at timestamptz NOT NULL,
  CHECK ((api_key_id IS NOT NULL) = (minter = 'key'))
);
CREATE INDEX event_ticket_age ON event_ticket (expires_at);
