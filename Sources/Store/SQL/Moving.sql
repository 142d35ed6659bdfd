-- name: store_ids
SELECT id, next_id, previous_id FROM blob_store WHERE adopted_at > '-infinity'

-- name: is_writer
-- Whether a process that writes to these stores may insert blobs (insert_blob).
SELECT coalesce(
  (SELECT id = ANY ($1::uuid[]) AND (next_id IS NULL OR next_id = ANY ($1::uuid[])) FROM blob_store), true) AS is_writer

-- name: lock_writers
-- Waits for the transactions that have inserted blobs; later ones wait for this one, and know then what it has changed.
LOCK TABLE blob IN SHARE MODE

-- name: begin_move
UPDATE blob_store SET next_id = $1::uuid WHERE id <> $1::uuid AND (next_id IS NULL OR next_id = $1::uuid) RETURNING id

-- name: finish_move
UPDATE blob_store SET id = next_id, previous_id = id, next_id = NULL, adopted_at = clock_timestamp()
WHERE next_id = $1::uuid RETURNING id

-- name: cancel_move
UPDATE blob_store SET next_id = NULL WHERE next_id IS NOT NULL RETURNING id

-- fragment: is_file
-- Whether a blob must have a file: unless its row has the content. A source has one whatever its row has, because the media process reads
-- it from a descriptor.
(inline_content IS NULL OR EXISTS (SELECT FROM asset WHERE asset.blob = blob.hash AND asset.role LIKE 'source.%')
  OR EXISTS (SELECT FROM quarantined_input WHERE quarantined_input.blob = blob.hash))

-- name: files_of_shard
-- The blobs with a file whose hashes begin with a byte.
SELECT hash, bytes FROM blob
WHERE hash >= $1 AND ($2::bytea IS NULL OR hash < $2::bytea) AND {is_file} ORDER BY hash

-- name: is_file
SELECT FROM blob WHERE hash = $1 AND {is_file}
