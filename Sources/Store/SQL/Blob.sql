-- name: keep
-- The row is made or, if it is there, locked until the transaction ends: no collector can come in between.
INSERT INTO blob (hash, bytes, content) VALUES ($1, $2, $3)
ON CONFLICT (hash) DO UPDATE SET bytes = blob.bytes
RETURNING content IS NOT NULL AS is_inline

-- name: read
SELECT bytes, content FROM blob WHERE hash = $1

-- name: lock
SELECT content IS NOT NULL AS is_inline FROM blob WHERE hash = $1 FOR UPDATE

-- name: is_referred_to
-- A statement of its own: only one that begins after the lock was had sees all who committed before.
SELECT EXISTS (SELECT FROM asset WHERE blob = $1) AS is_referred_to

-- name: delete
DELETE FROM blob WHERE hash = $1

-- name: released
SELECT hash FROM blob_release ORDER BY released_at LIMIT $1

-- name: forget_release
DELETE FROM blob_release WHERE hash = $1
