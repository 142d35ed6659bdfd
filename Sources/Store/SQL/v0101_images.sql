-- Images that are submitted by themselves: reactions, profile images, thumbnails of itineraries, photos of places.
CREATE TABLE image (
  -- In the order of submission: of a kind that replaces, the largest that was accepted counts.
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('reaction', 'profile', 'itinerary', 'place')),
  owner text NOT NULL,
  post_id bigint REFERENCES post ON DELETE CASCADE CHECK ((post_id IS NOT NULL) = (kind = 'reaction')),
  author text,
  status text NOT NULL CHECK (status IN ('processing', 'ready', 'rejected', 'failed', 'replaced')),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  reasons jsonb NOT NULL DEFAULT '[]',
  job uuid,
  source_set_id bigint REFERENCES asset_set,
  asset_set_id bigint REFERENCES asset_set
);
CREATE INDEX image_owner ON image (kind, owner, id DESC) WHERE asset_set_id IS NOT NULL;
CREATE INDEX image_post ON image (post_id) WHERE post_id IS NOT NULL;
CREATE INDEX image_job ON image (job);
CREATE INDEX image_source_set ON image (source_set_id) WHERE source_set_id IS NOT NULL;
CREATE INDEX image_asset_set ON image (asset_set_id) WHERE asset_set_id IS NOT NULL;

-- The colour that most of a picture has, '#rrggbb'.
ALTER TABLE asset ADD COLUMN color text;
