-- What concerns each user: the events of GET /v1/events. They are stored in the transaction of what they are about.

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
