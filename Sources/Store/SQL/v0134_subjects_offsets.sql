-- Moderators also decide about places, images and collections.

-- Whether a moderator has hidden it.
ALTER TABLE place ADD COLUMN is_hidden boolean NOT NULL DEFAULT false;
ALTER TABLE image ADD COLUMN is_hidden boolean NOT NULL DEFAULT false;
ALTER TABLE collection ADD COLUMN is_hidden boolean NOT NULL DEFAULT false;

ALTER TABLE moderation_case
  ADD COLUMN place_id text REFERENCES place ON DELETE CASCADE,
  ADD COLUMN image_id bigint REFERENCES image ON DELETE CASCADE,
  ADD COLUMN collection_id bigint REFERENCES collection ON DELETE CASCADE,
  DROP CONSTRAINT moderation_case_check,
  ADD CONSTRAINT moderation_case_check CHECK (num_nonnulls(post_id, comment_id, user_id, place_id, image_id, collection_id) = 1);
-- One open case about a subject.
CREATE UNIQUE INDEX moderation_case_open_place ON moderation_case (place_id) WHERE decision IS NULL;
CREATE UNIQUE INDEX moderation_case_open_image ON moderation_case (image_id) WHERE decision IS NULL;
CREATE UNIQUE INDEX moderation_case_open_collection ON moderation_case (collection_id) WHERE decision IS NULL;
-- For the deletion of the subject.
CREATE INDEX moderation_case_place ON moderation_case (place_id) WHERE place_id IS NOT NULL;
CREATE INDEX moderation_case_image ON moderation_case (image_id) WHERE image_id IS NOT NULL;
CREATE INDEX moderation_case_collection ON moderation_case (collection_id) WHERE collection_id IS NOT NULL;

-- The time of an event in the front clip of a moment minus its time in the back clip, for every player that switches between them. NULL: it is
-- not known, or the post is no moment.
ALTER TABLE post ADD COLUMN offset_seconds double precision;
UPDATE post SET offset_seconds = (done.result #>> '{moment,offset_seconds}')::float8
FROM job_done AS done
WHERE done.public_id = post.job AND post.kind = 'take5' AND done.result #>> '{moment,offset_seconds}' IS NOT NULL;
