-- name: make_set
INSERT INTO asset_set (public_id, definition, recipe, job) VALUES ($1::uuid, $2, $3, $4::uuid) RETURNING id

-- name: add
INSERT INTO asset (public_id, asset_set_id, role, place, blob, type, width, height, duration, thumbhash)
VALUES ($1::uuid, $2, $3, $4, $5, $6, $7, $8, $9, $10)

-- name: of_set
SELECT asset.public_id, asset.role, asset.type, blob.bytes, asset.blob, asset.width, asset.height, asset.duration,
  asset.thumbhash
FROM asset JOIN blob ON blob.hash = asset.blob
WHERE asset.asset_set_id = $1
ORDER BY asset.role, asset.place

-- name: find
SELECT asset.public_id, asset.role, asset.type, blob.bytes, asset.blob, asset.width, asset.height, asset.duration,
  asset.thumbhash, blob.content, asset_set.recipe
FROM asset JOIN blob ON blob.hash = asset.blob JOIN asset_set ON asset_set.id = asset.asset_set_id
WHERE asset.public_id = $1::uuid

-- name: drop_set
-- Says which blobs lost a reference, and notes them for the collector.
WITH dropped AS (DELETE FROM asset WHERE asset_set_id = $1 RETURNING blob),
  released AS (INSERT INTO blob_release (hash) SELECT DISTINCT blob FROM dropped ON CONFLICT (hash) DO NOTHING)
SELECT DISTINCT blob FROM dropped

-- name: delete_set
DELETE FROM asset_set WHERE id = $1
