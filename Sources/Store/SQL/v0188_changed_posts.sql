-- The time of the last change of a post moves with every column but those that are named here: a column that is added later moves it by itself.
-- Counters, what the service notes of its work, and what follows from other columns do not. Records are compared by their bytes, which costs a
-- like less than a document of JSON would.
CREATE OR REPLACE FUNCTION post_changed() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  former post := OLD;
BEGIN
  former.like_count := NEW.like_count;
  former.comment_count := NEW.comment_count;
  former.reaction_count := NEW.reaction_count;
  former.job := NEW.job;
  former.source_set_id := NEW.source_set_id;
  -- What clients see of it is the status.
  former.moderation := NEW.moderation;
  former.is_moderated := NEW.is_moderated;
  former.position := NEW.position;
  former.map_cell := NEW.map_cell;
  former.taken_at := NEW.taken_at;
  former.updated_at := NEW.updated_at;
  IF former *<> NEW THEN NEW.updated_at := clock_timestamp(); END IF;
  RETURN NEW;
END $$;

-- After the triggers that set columns, whose names come before it.
DROP TRIGGER post_updated ON post;
CREATE TRIGGER post_updated BEFORE UPDATE ON post FOR EACH ROW EXECUTE FUNCTION post_changed();
DROP TRIGGER post_described ON post;
DROP TRIGGER post_fields_changed ON post;
