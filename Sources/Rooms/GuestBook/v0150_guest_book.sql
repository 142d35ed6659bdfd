-- What users write into the guest books of places.
CREATE TABLE guest_book_entry (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  place_id text NOT NULL REFERENCES place ON DELETE CASCADE,
  author text NOT NULL,
  text text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  is_hidden boolean NOT NULL DEFAULT false
);
CREATE INDEX guest_book_entry_place ON guest_book_entry (place_id, created_at DESC, id DESC);
CREATE INDEX guest_book_entry_author ON guest_book_entry (author, id);

-- The number of entries of a place that no moderator has hidden.
CREATE TABLE guest_book (
  place_id text PRIMARY KEY REFERENCES place ON DELETE CASCADE,
  entries bigint NOT NULL
);

ALTER TABLE moderation_case ADD COLUMN entry_id bigint REFERENCES guest_book_entry ON DELETE CASCADE,
  DROP CONSTRAINT moderation_case_check,
  ADD CONSTRAINT moderation_case_check
    CHECK (num_nonnulls(post_id, comment_id, user_id, place_id, image_id, collection_id, entry_id) = 1);
CREATE UNIQUE INDEX moderation_case_open_entry ON moderation_case (entry_id) WHERE decision IS NULL;
CREATE INDEX moderation_case_entry ON moderation_case (entry_id) WHERE entry_id IS NOT NULL;
