-- Collections that others than their members see.
ALTER TABLE collection
  -- Who sees it without being a member.
  ADD COLUMN visibility text NOT NULL DEFAULT 'private' CHECK (visibility IN ('public', 'friends', 'private'));
-- Those on the profile of their author.
CREATE INDEX collection_open ON collection (author, created_at DESC, id DESC) WHERE visibility <> 'private';

ALTER TABLE collection_member
  -- Whether the user was asked, and what the user has answered. With whom it was shared without a question has accepted.
  ADD COLUMN state text NOT NULL DEFAULT 'accepted' CHECK (state IN ('invited', 'accepted', 'declined'));
-- Who has not accepted is not counted.
CREATE OR REPLACE FUNCTION collection_members() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  step int := CASE TG_OP WHEN 'INSERT' THEN 1 ELSE -1 END;
BEGIN
  PERFORM FROM collection WHERE id IN (SELECT collection_id FROM changed) ORDER BY id FOR NO KEY UPDATE;
  UPDATE collection SET member_count = member_count + step * counted.members
  FROM (SELECT collection_id, count(*)::int AS members FROM changed WHERE state = 'accepted' GROUP BY collection_id) AS counted
  WHERE id = counted.collection_id;
  RETURN NULL;
END $$;
CREATE FUNCTION collection_member_answers() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM collection WHERE id IN (SELECT collection_id FROM answered) ORDER BY id FOR NO KEY UPDATE;
  UPDATE collection SET member_count = member_count + counted.members
  FROM (
    SELECT collection_id, sum(step)::int AS members FROM (
      SELECT collection_id, 1 AS step FROM answered WHERE state = 'accepted'
      UNION ALL SELECT collection_id, -1 FROM asked WHERE state = 'accepted') AS step
    GROUP BY collection_id HAVING sum(step) <> 0) AS counted
  WHERE id = counted.collection_id;
  RETURN NULL;
END $$;
CREATE TRIGGER collection_member_answered AFTER UPDATE ON collection_member REFERENCING OLD TABLE AS asked NEW TABLE AS answered
  FOR EACH STATEMENT EXECUTE FUNCTION collection_member_answers();

ALTER TABLE idempotent_answer
  -- The version of what the request has made, for the repetitions of the request. NULL: it has none, or an older program made it.
  ADD COLUMN tag text;
