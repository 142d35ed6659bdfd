-- Moderation: reports, cases and decisions; posts that are held or hidden, hidden comments, places, images and collections.

CREATE TABLE moderation_case (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  post_id bigint REFERENCES post ON DELETE CASCADE,
  comment_id bigint REFERENCES comment ON DELETE CASCADE,
  user_id text,
  cause text NOT NULL CHECK (cause IN ('held', 'report', 'moderator')),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- NULL: the case is open.
  decision text CHECK (decision IN ('approve', 'hide', 'suspend')),
  -- The credential that decided.
  decided_by text,
  note text,
  decided_at timestamptz,
  place_id text REFERENCES place ON DELETE CASCADE,
  image_id bigint REFERENCES image ON DELETE CASCADE,
  collection_id bigint REFERENCES collection ON DELETE CASCADE,
  CHECK (num_nonnulls(post_id, comment_id, user_id, place_id, image_id, collection_id) = 1),
  CHECK ((decision IS NULL) = (decided_at IS NULL))
);
-- One open case about a subject.
CREATE UNIQUE INDEX moderation_case_open_post ON moderation_case (post_id) WHERE decision IS NULL;
CREATE UNIQUE INDEX moderation_case_open_comment ON moderation_case (comment_id) WHERE decision IS NULL;
CREATE UNIQUE INDEX moderation_case_open_user ON moderation_case (user_id) WHERE decision IS NULL;
CREATE UNIQUE INDEX moderation_case_open_place ON moderation_case (place_id) WHERE decision IS NULL;
CREATE UNIQUE INDEX moderation_case_open_image ON moderation_case (image_id) WHERE decision IS NULL;
CREATE UNIQUE INDEX moderation_case_open_collection ON moderation_case (collection_id) WHERE decision IS NULL;
-- For the deletion of the subject.
CREATE INDEX moderation_case_post ON moderation_case (post_id) WHERE post_id IS NOT NULL;
CREATE INDEX moderation_case_comment ON moderation_case (comment_id) WHERE comment_id IS NOT NULL;
CREATE INDEX moderation_case_user ON moderation_case (user_id) WHERE user_id IS NOT NULL;
CREATE INDEX moderation_case_place ON moderation_case (place_id) WHERE place_id IS NOT NULL;
CREATE INDEX moderation_case_image ON moderation_case (image_id) WHERE image_id IS NOT NULL;
CREATE INDEX moderation_case_collection ON moderation_case (collection_id) WHERE collection_id IS NOT NULL;
-- For the lists.
CREATE INDEX moderation_case_open ON moderation_case (created_at DESC, id DESC) WHERE decision IS NULL;
CREATE INDEX moderation_case_decided ON moderation_case (created_at DESC, id DESC) WHERE decision IS NOT NULL;

CREATE TABLE report (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  case_id bigint NOT NULL REFERENCES moderation_case ON DELETE CASCADE,
  author text NOT NULL,
  reason text NOT NULL,
  text text,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (case_id, author)
);
CREATE INDEX report_author ON report (author, id);

-- The status of a post whose media are ready follows from its moderation, whatever version of the service publishes it.
--
-- Triggers of columns that an update does not name do not run: an update of the moderation names the status too.
CREATE FUNCTION moderate_post() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.status := CASE NEW.moderation WHEN 'hold' THEN 'held' WHEN 'hide' THEN 'hidden' ELSE 'ready' END;
  RETURN NEW;
END $$;
CREATE TRIGGER post_moderated BEFORE INSERT OR UPDATE OF status, moderation ON post FOR EACH ROW
  WHEN (NEW.status IN ('ready', 'held', 'hidden')) EXECUTE FUNCTION moderate_post();

-- A post that is held always has an open case. The lock order continues: after the post and its rows the case and its reports.
CREATE FUNCTION open_case() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A UUID of version 7: one of version 4 with the time in its first 48 bits, and two more bits of the version set.
  INSERT INTO moderation_case (public_id, post_id, cause)
  SELECT encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid()) PLACING substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
        FROM 1 FOR 6), 52, 1), 53, 1), 'hex')::uuid, NEW.id, 'held'
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;
CREATE TRIGGER post_held AFTER INSERT OR UPDATE OF status, moderation ON post FOR EACH ROW
  WHEN (NEW.status = 'held') EXECUTE FUNCTION open_case();
