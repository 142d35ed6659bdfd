-- The order in which back-ends learn of the events of all users.
CREATE TABLE event_position (
  -- There is one.
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- The position of the last event that has one. The row is locked while events get theirs, so that positions commit in their order.
  last bigint NOT NULL
);
INSERT INTO event_position (last) VALUES (0);

-- position: NULL until the worker with the turn has seen the event. data: what else its kind has.
ALTER TABLE user_event ADD COLUMN position bigint, ADD COLUMN data jsonb;
CREATE UNIQUE INDEX user_event_position ON user_event (position) WHERE position IS NOT NULL;
CREATE INDEX user_event_unplaced ON user_event (created_at) WHERE position IS NULL;

-- What is to become events of many users, such as the friends of an author, a page at a time.
CREATE TABLE announcement (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL,
  actor text NOT NULL,
  post uuid,
  subject uuid,
  data jsonb,
  -- The last user who has the event. NULL: all of them have it.
  after text DEFAULT '',
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX announcement_pending ON announcement (id) WHERE after IS NOT NULL;
CREATE INDEX announcement_age ON announcement (created_at);
CREATE INDEX announcement_actor ON announcement (actor);
-- A post is announced once, also if a moderator hides it and shows it again.
CREATE UNIQUE INDEX announcement_post ON announcement (post) WHERE kind = 'friend_posted';
