-- name: keep_definition
INSERT INTO definition (hash, name, version, body) VALUES ($1, $2, $3::int, $4::jsonb) ON CONFLICT (hash) DO NOTHING

-- name: definition
SELECT body FROM definition WHERE hash = $1

-- name: keep_blob
-- Inserts or locks the row: who collects the blob meanwhile is waited for.
INSERT INTO blob (hash, bytes, inline_content) VALUES ($1, $2::bigint, $3)
ON CONFLICT (hash) DO UPDATE SET inline_content = coalesce(blob.inline_content, excluded.inline_content)

-- name: keep_set
INSERT INTO asset_set (public_id, definition, recipe, job) VALUES ($1::uuid, $2, $3, $4::uuid) RETURNING id

-- name: keep_asset
INSERT INTO asset (public_id, asset_set_id, role, blob, type, bytes, width, height, duration, thumbhash, place, color)
VALUES ($1::uuid, $2::bigint, $3, $4, $5, $6::bigint, $7::int, $8::int, $9::float8, $10, $11::smallint, $12)

-- name: keep_post
INSERT INTO post (public_id, kind, status, author, title, caption, visibility, place_id, place_name, place_latitude,
                  place_longitude, latitude, longitude, foreground, captured_at, job, source_set_id)
VALUES ($1::uuid, $2, $17, $3, $4, $5, $6, $7, $8, $9::float8, $10::float8, $11::float8, $12::float8, $13, $14,
        $15::uuid, $16::bigint)

-- name: post
SELECT public_id, kind, status, author, title, caption, visibility, place_id, place_name, place_latitude,
  place_longitude, latitude, longitude, foreground, captured_at, created_at, reasons, job, asset_set_id, source_set_id
FROM post WHERE public_id = $1::uuid

-- name: assets
SELECT public_id, role, place, blob, type, bytes, width, height, duration, thumbhash, color
FROM asset WHERE asset_set_id = $1::bigint ORDER BY id

-- name: asset
SELECT asset.public_id, asset.role, asset.place, asset.blob, asset.type, asset.bytes, asset.width, asset.height,
  asset.duration, asset.thumbhash, asset.color, blob.inline_content
FROM asset JOIN blob ON blob.hash = asset.blob
WHERE asset.public_id = $1::uuid

-- name: publish
UPDATE post SET status = 'ready', asset_set_id = $2::bigint, reasons = '[]'
WHERE public_id = $1::uuid AND status = 'processing'
RETURNING id

-- name: reject
UPDATE post SET status = 'rejected', reasons = $2::jsonb WHERE public_id = $1::uuid AND status = 'processing' RETURNING id

-- name: fail
UPDATE post SET status = 'failed' WHERE job = $1::uuid AND status = 'processing' RETURNING id

-- name: reopen
UPDATE post SET status = 'processing' WHERE job = $1::uuid AND status = 'failed' RETURNING id

-- name: drop_sources
-- Takes the sources away from a post, and says which set they were.
UPDATE post SET source_set_id = NULL
FROM (SELECT id, source_set_id FROM post WHERE public_id = $1::uuid FOR UPDATE) AS before
WHERE post.id = before.id AND before.source_set_id IS NOT NULL
RETURNING before.source_set_id

-- name: keep_image
INSERT INTO image (public_id, kind, owner, author, status, job, source_set_id, post_id)
VALUES ($1::uuid, $2, $3, $4, 'processing', $5::uuid, $6::bigint, (SELECT id FROM post WHERE $2 = 'reaction' AND public_id = $7::uuid))

-- name: image
SELECT public_id, kind, owner, author, status, created_at, reasons, job, asset_set_id, source_set_id
FROM image WHERE public_id = $1::uuid

-- name: images
SELECT public_id, kind, owner, author, status, created_at, reasons, job, asset_set_id, source_set_id
FROM image WHERE kind = $1 AND owner = $2 AND asset_set_id IS NOT NULL ORDER BY id DESC LIMIT $3::int

-- name: current_image
-- One query with the bytes of one role, as far as they lie in the database.
SELECT asset.public_id, asset.role, asset.place, asset.blob, asset.type, asset.bytes, asset.width, asset.height,
  asset.duration, asset.thumbhash, asset.color, blob.inline_content
FROM (SELECT asset_set_id FROM image WHERE kind = $1 AND owner = $2 AND asset_set_id IS NOT NULL
      ORDER BY id DESC LIMIT 1) AS image
JOIN asset ON asset.asset_set_id = image.asset_set_id AND asset.role = $3
JOIN blob ON blob.hash = asset.blob

-- name: lock_image_owner
-- Two images of one owner are published one after the other.
SELECT pg_advisory_xact_lock(hashtextextended(kind || ':' || owner, 0)) FROM image WHERE public_id = $1::uuid

-- name: is_superseded
SELECT FROM image JOIN image AS newer
  ON newer.kind = image.kind AND newer.owner = image.owner AND newer.id > image.id AND newer.asset_set_id IS NOT NULL
WHERE image.public_id = $1::uuid

-- name: replace_images
-- Takes the sets away from all that were submitted before, and says which they were.
UPDATE image SET status = 'replaced', asset_set_id = NULL
FROM (
  SELECT older.id, older.asset_set_id FROM image JOIN image AS older
    ON older.kind = image.kind AND older.owner = image.owner AND older.id < image.id
    AND older.asset_set_id IS NOT NULL
  WHERE image.public_id = $1::uuid FOR UPDATE OF older) AS before
WHERE image.id = before.id
RETURNING before.asset_set_id

-- name: publish_image
UPDATE image SET status = $3, asset_set_id = $2::bigint, reasons = '[]'
WHERE public_id = $1::uuid AND status = 'processing'
RETURNING id

-- name: reject_image
UPDATE image SET status = 'rejected', reasons = $2::jsonb
WHERE public_id = $1::uuid AND status = 'processing' RETURNING id

-- name: fail_image
UPDATE image SET status = 'failed' WHERE job = $1::uuid AND status = 'processing' RETURNING id

-- name: reopen_image
UPDATE image SET status = 'processing' WHERE job = $1::uuid AND status = 'failed' RETURNING id

-- name: drop_image_sources
UPDATE image SET source_set_id = NULL
FROM (SELECT id, source_set_id FROM image WHERE public_id = $1::uuid FOR UPDATE) AS before
WHERE image.id = before.id AND before.source_set_id IS NOT NULL
RETURNING before.source_set_id

-- name: release_set
-- Its blobs have a reference less from now on.
INSERT INTO blob_release (hash) SELECT DISTINCT blob FROM asset WHERE asset_set_id = $1::bigint

-- name: drop_set
DELETE FROM asset_set WHERE id = $1::bigint

-- name: take_released
DELETE FROM blob_release WHERE id IN (
  SELECT id FROM blob_release ORDER BY id LIMIT $1::int FOR UPDATE SKIP LOCKED)
RETURNING hash

-- name: lock_blob
-- Locked before it is judged: whoever publishes the same bytes waits until it is decided.
SELECT FROM blob WHERE hash = $1 FOR UPDATE

-- name: is_referenced
SELECT FROM asset WHERE blob = $1 LIMIT 1

-- name: drop_blob
DELETE FROM blob WHERE hash = $1

-- name: count_crash
INSERT INTO media_crash (inputs, crashes, last_error) VALUES ($1, 1, $2)
ON CONFLICT (inputs) DO UPDATE SET
  crashes = media_crash.crashes + 1, last_error = excluded.last_error, last_at = clock_timestamp()
RETURNING crashes

-- name: forgive_crashes
DELETE FROM media_crash WHERE inputs = $1

-- name: is_reachable
SELECT 1
