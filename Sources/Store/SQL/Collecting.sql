-- name: take_released
-- Nothing while a hold stands; whoever comes past it is stopped by what follows.
DELETE FROM blob_release WHERE id IN (
  SELECT id FROM blob_release
  WHERE NOT EXISTS (SELECT FROM collection_hold WHERE ends_at > clock_timestamp())
  ORDER BY id LIMIT $1::int FOR UPDATE SKIP LOCKED)
RETURNING hash

-- name: note_released
INSERT INTO blob_release (hash) SELECT unnest($1::bytea[])

-- name: begin_collecting
-- Held by all that collect: who begins a hold waits for them.
SELECT pg_advisory_xact_lock_shared(hashtextextended('collecting', 2))

-- name: end_collecting
SELECT pg_advisory_xact_lock(hashtextextended('collecting', 2))

-- name: hold
SELECT ends_at FROM collection_hold WHERE ends_at > clock_timestamp()

-- name: keep_hold
-- A hold is never made shorter: somebody else may count on it.
INSERT INTO collection_hold (ends_at) VALUES (clock_timestamp() + make_interval(secs => $1::float8))
ON CONFLICT (is_only) DO UPDATE SET ends_at = greatest(collection_hold.ends_at, excluded.ends_at)
RETURNING ends_at

-- name: drop_hold
DELETE FROM collection_hold RETURNING ends_at > clock_timestamp() AS was_held

-- name: lock_blob
-- Locked before it is judged: whoever publishes the same bytes waits until it is decided.
SELECT FROM blob WHERE hash = $1 FOR UPDATE

-- name: is_referenced
SELECT FROM asset WHERE blob = $1 LIMIT 1

-- name: drop_blob
DELETE FROM blob WHERE hash = $1 RETURNING bytes

-- name: claim_blob
-- Of a file without a row: whoever publishes the same bytes is waited for, and then waits.
INSERT INTO blob (hash, bytes) VALUES ($1, $2::bigint) ON CONFLICT (hash) DO NOTHING RETURNING hash

-- name: loose_sets
-- Those of some sets that nobody refers to and nobody keeps.
SELECT id FROM asset_set
WHERE id = ANY ($1::bigint[]) AND retired_at IS NULL AND NOT is_kept
  AND NOT EXISTS (SELECT FROM post WHERE post.asset_set_id = asset_set.id)
  AND NOT EXISTS (SELECT FROM post WHERE post.source_set_id = asset_set.id)
  AND NOT EXISTS (SELECT FROM image WHERE image.asset_set_id = asset_set.id)
  AND NOT EXISTS (SELECT FROM image WHERE image.source_set_id = asset_set.id)
ORDER BY id FOR UPDATE

-- name: retired_naming
SELECT id, replaced_by FROM asset_set
WHERE id IN (SELECT asset_set_id FROM asset WHERE blob = $1) AND retired_at IS NOT NULL AND NOT is_kept
  AND NOT EXISTS (SELECT FROM post WHERE post.asset_set_id = asset_set.id)
  AND NOT EXISTS (SELECT FROM post WHERE post.source_set_id = asset_set.id)
  AND NOT EXISTS (SELECT FROM image WHERE image.asset_set_id = asset_set.id)
  AND NOT EXISTS (SELECT FROM image WHERE image.source_set_id = asset_set.id)
ORDER BY id FOR UPDATE
