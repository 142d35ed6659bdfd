-- Whether a moment was posted on time, as it was judged when it was submitted; and what media show, in words.

-- NULL: the post is no moment, or no window had opened by then.
ALTER TABLE post ADD COLUMN window_state text CHECK (window_state IN ('on_time', 'late', 'outside')),
  ADD COLUMN late_seconds int CHECK ((late_seconds IS NOT NULL) = (window_state IS NOT DISTINCT FROM 'late')),
  ADD COLUMN alternative_text text;

CREATE TRIGGER post_described BEFORE UPDATE ON post FOR EACH ROW
  WHEN (OLD.alternative_text IS DISTINCT FROM NEW.alternative_text) EXECUTE FUNCTION post_changed();
