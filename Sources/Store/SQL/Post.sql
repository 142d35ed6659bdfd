-- name: keep_definition
INSERT INTO definition (hash, name, version, body) VALUES ($1, $2, $3, $4::jsonb) ON CONFLICT (hash) DO NOTHING

-- name: definition
SELECT body FROM definition WHERE hash = $1

-- name: exists
SELECT EXISTS (SELECT FROM post WHERE public_id = $1::uuid) AS is_there

-- name: insert
INSERT INTO post (public_id, kind, author, title, caption, visibility, place_id, place_name, place_latitude,
                  place_longitude, latitude, longitude, captured_at, foreground, status, source_set_id, job)
VALUES ($1::uuid, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17::uuid)

-- name: find
SELECT public_id, kind, author, title, caption, visibility, place_id, place_name, place_latitude, place_longitude,
  latitude, longitude, captured_at, foreground, status, reasons, source_set_id, asset_set_id, job, created_at
FROM post WHERE public_id = $1::uuid

-- name: publish
UPDATE post SET asset_set_id = $2, status = 'ready', reasons = '[]', updated_at = clock_timestamp()
WHERE public_id = $1::uuid
RETURNING source_set_id

-- name: reject
UPDATE post SET status = 'rejected', reasons = $2::jsonb, updated_at = clock_timestamp()
WHERE public_id = $1::uuid
RETURNING source_set_id

-- name: forget_sources
UPDATE post SET source_set_id = NULL WHERE public_id = $1::uuid

-- name: fail_by_jobs
UPDATE post SET status = 'failed', updated_at = clock_timestamp()
WHERE job = ANY ($1::uuid[]) AND status = 'processing'

-- name: try_again_by_job
UPDATE post SET status = 'processing', updated_at = clock_timestamp() WHERE job = $1::uuid AND status = 'failed'

-- name: record_crash
INSERT INTO media_crash (inputs, token) VALUES ($1, $2) ON CONFLICT (inputs, token) DO NOTHING

-- name: count_crashes
SELECT count(*) AS crashes FROM media_crash WHERE inputs = $1
