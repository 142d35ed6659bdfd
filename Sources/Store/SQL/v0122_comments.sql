-- Comments on places.

-- A comment is on one thing.
ALTER TABLE comment ALTER COLUMN post_id DROP NOT NULL,
  ADD COLUMN place_id text REFERENCES place ON DELETE CASCADE;
CREATE INDEX comment_place ON comment (place_id, created_at DESC, id DESC) WHERE place_id IS NOT NULL;
