-- name: begin_adopting
-- Whoever compares the folder with the database does it alone: two that start at once must not make two ids.
SELECT pg_advisory_xact_lock(hashtextextended('blob_store', 2))

-- name: store_id
SELECT id FROM blob_store

-- name: keep_store_id
INSERT INTO blob_store (id) VALUES ($1::uuid)
ON CONFLICT (is_only) DO UPDATE SET id = excluded.id, adopted_at = clock_timestamp()

-- name: newest_files
-- Of the assets that came last, those whose blobs do not lie in the database.
SELECT blob.hash FROM asset JOIN blob ON blob.hash = asset.blob
WHERE blob.inline_content IS NULL ORDER BY asset.id DESC LIMIT $1::int

-- name: note_damage
-- Nothing where it is known already, or the blob is gone.
INSERT INTO blob_damage (hash, kind) SELECT hash, $2 FROM blob WHERE hash = $1
ON CONFLICT (hash) DO NOTHING RETURNING hash

-- name: take_damage
-- Each is looked at by one at a time, and ever more rarely.
UPDATE blob_damage SET next_at = clock_timestamp()
  + make_interval(secs => CASE WHEN error IS NULL THEN least(600, 30 * 2 ^ least(attempts, 10)) ELSE 600 END)
FROM blob
WHERE blob.hash = blob_damage.hash AND blob_damage.hash IN (
  SELECT hash FROM blob_damage WHERE next_at <= clock_timestamp() ORDER BY next_at LIMIT $1::int FOR UPDATE SKIP LOCKED)
RETURNING blob_damage.hash, blob.bytes, blob_damage.error,
  EXISTS (SELECT FROM reprocess_run WHERE public_id = blob_damage.run AND state IN ('running', 'paused')) AS is_made_again

-- name: note_remaking
UPDATE blob_damage SET run = $2::uuid, attempts = attempts + 1, error = NULL WHERE hash = $1

-- name: note_lost
UPDATE blob_damage SET error = $2 WHERE hash = $1 AND error IS DISTINCT FROM $2 RETURNING hash

-- name: drop_damage
DELETE FROM blob_damage WHERE hash = $1 RETURNING hash
