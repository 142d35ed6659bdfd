-- Comments on posts, places and collections.
CREATE TABLE comment (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  post_id bigint REFERENCES post ON DELETE CASCADE,
  author text NOT NULL,
  text text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  place_id text REFERENCES place ON DELETE CASCADE,
  collection_id bigint REFERENCES collection ON DELETE CASCADE,
  is_hidden boolean NOT NULL DEFAULT false,
  -- A comment is on one thing.
  CHECK (num_nonnulls(post_id, place_id, collection_id) = 1)
);
CREATE INDEX comment_post ON comment (post_id, created_at DESC, id DESC);
CREATE INDEX comment_place ON comment (place_id, created_at DESC, id DESC) WHERE place_id IS NOT NULL;
CREATE INDEX comment_collection ON comment (collection_id, created_at DESC, id DESC) WHERE collection_id IS NOT NULL;
-- What a user wrote anywhere.
CREATE INDEX comment_author ON comment (author);
