-- Announcements take turns. flow: whose audience it is: the author of a post, or the post or the collection that was commented on. Of each
-- flow one page after another is announced, and of all flows in the order of their turns: a new one begins at the turn that all have reached,
-- so that it waits for one page of each other flow at most, and nothing waits for ever.
ALTER TABLE announcement ADD COLUMN turn bigint NOT NULL DEFAULT 0, ADD COLUMN count int NOT NULL DEFAULT 1,
  ADD COLUMN flow text GENERATED ALWAYS AS (CASE kind
    WHEN 'thread_comment' THEN post::text WHEN 'collection_comment' THEN data ->> 'collection' ELSE actor END) STORED;
CREATE INDEX announcement_turn ON announcement (turn, id) WHERE after IS NOT NULL;
CREATE INDEX announcement_flow ON announcement (flow, turn) WHERE after IS NOT NULL;
DROP INDEX announcement_pending;

-- An event that was announced too late is read, and neither sent nor shown.
ALTER TABLE user_event ADD COLUMN is_late boolean NOT NULL DEFAULT false;
-- late: the number of those since the store was made.
ALTER TABLE event_position ADD COLUMN late bigint NOT NULL DEFAULT 0;
