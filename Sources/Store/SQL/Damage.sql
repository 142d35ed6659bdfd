-- name: lock_adopting
-- Serializes the adoption of a store: two processes that start at the same time must not record two ids.
SELECT pg_advisory_xact_lock(hashtextextended('blob_store', 2))

-- name: store_id
SELECT id FROM blob_store WHERE adopted_at > '-infinity'

-- name: intend_store_id
-- The id of a store that no process has adopted yet: it is that of the first process that wants to create one.
INSERT INTO blob_store (id, adopted_at) VALUES ($1::uuid, '-infinity')
ON CONFLICT (is_only) DO UPDATE SET id = blob_store.id RETURNING id

-- name: insert_store_id
INSERT INTO blob_store (id) VALUES ($1::uuid)
ON CONFLICT (is_only) DO UPDATE SET id = excluded.id, next_id = nullif(blob_store.next_id, excluded.id),
  adopted_at = clock_timestamp()

-- name: newest_files
-- The newest blobs that are stored as files.
SELECT blob.hash FROM asset JOIN blob ON blob.hash = asset.blob
WHERE blob.inline_content IS NULL ORDER BY asset.id DESC LIMIT $1::int

-- name: insert_damage
-- No row if the damage is known already, or the blob is gone.
INSERT INTO blob_damage (hash, kind) SELECT hash, $2 FROM blob WHERE hash = $1
ON CONFLICT (hash) DO NOTHING RETURNING hash

-- name: claim_damage
-- Each damaged blob is checked by one worker at a time, with growing pauses.
UPDATE blob_damage SET next_at = clock_timestamp()
  + make_interval(secs => CASE WHEN error IS NULL THEN least(600, 30 * 2 ^ least(attempts, 10)) ELSE 600 END)
FROM blob
WHERE blob.hash = blob_damage.hash AND blob_damage.hash IN (
  SELECT hash FROM blob_damage WHERE next_at <= statement_timestamp() ORDER BY next_at LIMIT $1::int FOR UPDATE SKIP LOCKED)
RETURNING blob_damage.hash, blob.bytes, blob_damage.error,
  EXISTS (SELECT FROM reprocess_run WHERE public_id = blob_damage.run AND state IN ('running', 'paused')) AS is_made_again

-- name: set_damage_aside
UPDATE blob_damage SET next_at = clock_timestamp() + make_interval(secs => $2::int) WHERE hash = $1

-- name: set_damage_run
UPDATE blob_damage SET run = $2::uuid, attempts = attempts + 1, error = NULL WHERE hash = $1

-- name: set_damage_error
UPDATE blob_damage SET error = $2 WHERE hash = $1 AND error IS DISTINCT FROM $2 RETURNING hash

-- name: row_content
-- The content of a row, if it has the hash of the blob.
SELECT inline_content FROM blob WHERE hash = $1 AND sha256(inline_content) = hash

-- name: drop_damage
DELETE FROM blob_damage WHERE hash = $1 RETURNING hash
