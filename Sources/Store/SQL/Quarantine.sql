-- name: mark_suspect
INSERT INTO media_crash (inputs, crashes, last_error) SELECT unnest($1::bytea[]), 0, $2
ON CONFLICT (inputs) DO NOTHING

-- name: count_crash
-- An interruption may have inserted the row without a crash.
INSERT INTO media_crash AS entry (
  inputs, crashes, last_error, kind, code, stage, signal, limits, definition, foreground, version)
VALUES ($1, 1, $2, $3, $4, $5, $6, $7::jsonb, $8, $9, $10)
ON CONFLICT (inputs) DO UPDATE SET
  crashes = entry.crashes + 1, last_error = excluded.last_error, last_at = clock_timestamp(), kind = excluded.kind,
  code = excluded.code, stage = excluded.stage, signal = excluded.signal, limits = excluded.limits,
  definition = excluded.definition, foreground = excluded.foreground, version = excluded.version,
  first_at = CASE WHEN entry.crashes = 0 THEN clock_timestamp() ELSE entry.first_at END
RETURNING crashes

-- name: quarantine
UPDATE media_crash SET quarantined_at = clock_timestamp() WHERE inputs = $1 AND quarantined_at IS NULL RETURNING inputs

-- name: insert_quarantined
-- The rows of the blobs are locked in the order of their hashes, so that no collector removes one before the commit.
INSERT INTO quarantined_input (inputs, role, blob)
SELECT $1, given.role, blob.hash
FROM unnest($2::text[], $3::bytea[]) AS given (role, hash) JOIN blob ON blob.hash = given.hash
ORDER BY blob.hash FOR KEY SHARE OF blob

-- name: reset_crash_count
-- Quarantined inputs stay until an operator releases them.
DELETE FROM media_crash WHERE inputs = ANY ($1::bytea[]) AND quarantined_at IS NULL

-- name: crashes_of
SELECT inputs, quarantined_at IS NOT NULL AS is_quarantined FROM media_crash WHERE inputs = ANY ($1::bytea[])

-- name: quarantined
-- The quarantined inputs whose hash begins with the given digits, the newest first.
SELECT entry.inputs, entry.kind, entry.code, entry.stage, entry.signal, entry.limits, entry.crashes, entry.last_error,
  entry.foreground, entry.version, entry.first_at, entry.last_at, entry.quarantined_at,
  definition.hash AS definition, definition.name AS definition_name, definition.version AS definition_version
FROM media_crash AS entry JOIN definition ON definition.hash = entry.definition
WHERE entry.quarantined_at IS NOT NULL AND starts_with(encode(entry.inputs, 'hex'), $1)
ORDER BY entry.quarantined_at DESC, entry.inputs
LIMIT $2

-- name: blobs_of_quarantined
-- The front clip comes first.
SELECT role, hash, bytes FROM quarantined_input JOIN blob ON blob.hash = quarantined_input.blob
WHERE inputs = $1 ORDER BY role DESC

-- name: release_blobs_of_quarantined
INSERT INTO blob_release (hash) SELECT blob FROM quarantined_input WHERE inputs = $1

-- name: drop_quarantined
DELETE FROM media_crash WHERE inputs = $1 AND quarantined_at IS NOT NULL RETURNING inputs
