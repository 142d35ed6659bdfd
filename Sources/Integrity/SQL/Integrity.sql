-- name: tables
-- The tables that this role may read, with what the server stores beside them for long values: by the name of the table that a part
-- belongs to, and as the relation to read.
SELECT coalesce(owner.oid, relation.oid)::regclass::text AS name, format('%I.%I', namespace.nspname, relation.relname) AS relation
FROM pg_class AS relation JOIN pg_namespace AS namespace ON namespace.oid = relation.relnamespace
LEFT JOIN pg_class AS owner ON owner.reltoastrelid = relation.oid
WHERE relation.relkind IN ('r', 't', 'm') AND relation.relpersistence = 'p'
  AND has_schema_privilege(namespace.oid, 'USAGE') AND has_table_privilege(relation.oid, 'SELECT')
ORDER BY 1, 2

-- name: has_checksums
SELECT current_setting('data_checksums') = 'on'

-- name: read_sequentially
-- An index would spare the server pages of the table.
SELECT set_config('enable_indexscan', 'off', true), set_config('enable_indexonlyscan', 'off', true),
  set_config('enable_bitmapscan', 'off', true)

-- name: totals
SELECT (SELECT count(*) FROM blob) AS blobs, (SELECT least(coalesce(sum(bytes), 0), 9223372036854775807)::bigint FROM blob) AS bytes,
  (SELECT count(*) FROM asset_set) AS sets, (SELECT count(*) FROM post) AS posts, (SELECT count(*) FROM image) AS images,
  (SELECT count(*) FROM asset) AS assets

-- name: blobs
-- The server computes the hashes of inline content. Only for a blob without references it looks for a release.
SELECT hash, bytes, length(inline_content) AS inline_bytes, sha256(inline_content) AS inline_hash,
  EXISTS (SELECT FROM asset WHERE asset.blob = hash AND role LIKE 'source.%')
    OR EXISTS (SELECT FROM quarantined_input WHERE quarantined_input.blob = hash) AS is_source,
  NOT EXISTS (SELECT FROM asset WHERE asset.blob = page.hash)
    AND NOT EXISTS (SELECT FROM quarantined_input WHERE quarantined_input.blob = page.hash) AS is_unreferenced,
  CASE WHEN NOT EXISTS (SELECT FROM asset WHERE asset.blob = page.hash)
    THEN EXISTS (SELECT FROM blob_release WHERE blob_release.hash = page.hash) ELSE false END AS is_released
FROM (SELECT hash, bytes, inline_content FROM blob WHERE hash > $1 ORDER BY hash LIMIT $2::int) AS page
ORDER BY hash

-- name: blob
-- Each change of the row gives it another version.
SELECT xmin::text AS version, hash, bytes, length(inline_content) AS inline_bytes, sha256(inline_content) AS inline_hash,
  EXISTS (SELECT FROM asset WHERE asset.blob = hash AND role LIKE 'source.%')
    OR EXISTS (SELECT FROM quarantined_input WHERE quarantined_input.blob = hash) AS is_source,
  NOT EXISTS (SELECT FROM asset WHERE asset.blob = hash)
    AND NOT EXISTS (SELECT FROM quarantined_input WHERE quarantined_input.blob = hash) AS is_unreferenced,
  EXISTS (SELECT FROM blob_release WHERE blob_release.hash = blob.hash) AS is_released
FROM blob WHERE hash = $1

-- name: lock_blob_shared
-- Conflicts with the locks of writers and collectors of the blob.
SELECT FROM blob WHERE hash = $1 FOR SHARE

-- name: lock_blob
SELECT FROM blob WHERE hash = $1 FOR UPDATE

-- name: uses_of_blob
SELECT asset.role, asset_set.is_kept, owner.kind, owner.subject, owner.has_sources
FROM asset JOIN asset_set ON asset_set.id = asset.asset_set_id LEFT JOIN LATERAL (
  SELECT 'post' AS kind, public_id AS subject, source_set_id IS NOT NULL AS has_sources
  FROM post WHERE post.asset_set_id = asset.asset_set_id
  UNION ALL SELECT 'post', public_id, true FROM post WHERE post.source_set_id = asset.asset_set_id
  UNION ALL SELECT 'image', public_id, source_set_id IS NOT NULL
  FROM image WHERE image.asset_set_id = asset.asset_set_id
  UNION ALL SELECT 'image', public_id, true FROM image WHERE image.source_set_id = asset.asset_set_id) AS owner ON true
WHERE asset.blob = $1

-- name: quarantines_of_blob
SELECT inputs, role FROM quarantined_input WHERE blob = $1 ORDER BY inputs, role

-- name: sets
SELECT page.id, page.public_id, page.definition, page.is_retired, page.is_kept, owner.is_look,
  owner.kind, owner.subject, owner.is_source, owner.is_moment, owner.sources IS NOT NULL AS has_sources,
  (SELECT count(*) FROM asset WHERE asset.asset_set_id = owner.sources AND asset.role = 'source.photo') AS photos
FROM (
  SELECT id, public_id, definition, retired_at IS NOT NULL AS is_retired, is_kept
  FROM asset_set WHERE id > $1::bigint ORDER BY id LIMIT $2::int) AS page
LEFT JOIN LATERAL (
  SELECT 'post' AS kind, public_id AS subject, false AS is_source, kind = 'take5' AS is_moment, source_set_id AS sources, look IS NOT NULL AS is_look
  FROM post WHERE post.asset_set_id = page.id
  UNION ALL SELECT 'post', public_id, true, kind = 'take5', source_set_id, false FROM post WHERE post.source_set_id = page.id
  UNION ALL SELECT 'image', public_id, false, false, source_set_id, false FROM image WHERE image.asset_set_id = page.id
  UNION ALL SELECT 'image', public_id, true, false, source_set_id, false FROM image WHERE image.source_set_id = page.id
) AS owner ON true
ORDER BY page.id

-- name: members
SELECT asset.asset_set_id, asset.public_id, asset.role, asset.place, asset.blob, asset.bytes, blob.bytes AS blob_bytes
FROM asset LEFT JOIN blob ON blob.hash = asset.blob
WHERE asset.asset_set_id = ANY ($1::bigint[]) ORDER BY asset.id

-- name: definitions
SELECT hash, body FROM definition WHERE hash = ANY ($1::bytea[])

-- name: posts
-- A post without media is ready at once and has no job; one that awaits uploads is processing and has none yet.
SELECT id, public_id, source_set_id IS NOT NULL AS has_sources,
  (status = 'ready' AND job IS NOT NULL OR asset_set_id IS NOT NULL)
    AND NOT EXISTS (SELECT FROM asset_set WHERE asset_set.id = post.asset_set_id) AS lacks_media,
  (status = 'processing' AND NOT EXISTS (SELECT FROM awaited_upload WHERE post_id = post.id) OR source_set_id IS NOT NULL)
    AND NOT EXISTS (SELECT FROM asset_set WHERE asset_set.id = post.source_set_id) AS lacks_sources,
  status = 'processing' AND source_set_id IS NOT NULL AND NOT EXISTS (SELECT FROM job WHERE job.public_id = post.job) AS lacks_job
FROM post WHERE id > $1::bigint ORDER BY id LIMIT $2::int

-- name: images
SELECT id, public_id, source_set_id IS NOT NULL AS has_sources,
  (status = 'ready' OR asset_set_id IS NOT NULL)
    AND NOT EXISTS (SELECT FROM asset_set WHERE asset_set.id = image.asset_set_id) AS lacks_media,
  (status = 'processing' OR source_set_id IS NOT NULL)
    AND NOT EXISTS (SELECT FROM asset_set WHERE asset_set.id = image.source_set_id) AS lacks_sources,
  status = 'processing' AND source_set_id IS NOT NULL AND NOT EXISTS (SELECT FROM job WHERE job.public_id = image.job) AS lacks_job
FROM image WHERE id > $1::bigint ORDER BY id LIMIT $2::int

-- name: runs_without_jobs
-- The runs of workers with items that have started, have no outcome, and have no job.
SELECT run.public_id, count(*) AS items FROM reprocess_item AS item JOIN reprocess_run AS run ON run.id = item.run_id
WHERE item.outcome IS NULL AND item.job IS NOT NULL AND NOT EXISTS (SELECT FROM job WHERE job.public_id = item.job)
GROUP BY run.id ORDER BY run.id

-- name: correct_run
-- The items wait again; those of a run that has ended end with it.
UPDATE reprocess_item AS item SET
  job = CASE WHEN run.state IN ('running', 'paused') THEN NULL ELSE item.job END,
  outcome = CASE WHEN run.state NOT IN ('running', 'paused') THEN 'cancelled' END,
  ended_at = CASE WHEN run.state NOT IN ('running', 'paused') THEN clock_timestamp() END
FROM reprocess_run AS run
WHERE run.id = item.run_id AND run.public_id = $1::uuid AND item.outcome IS NULL AND item.job IS NOT NULL
  AND NOT EXISTS (SELECT FROM job WHERE job.public_id = item.job)

-- name: awaited_uploads
SELECT awaited.upload, post.public_id FROM awaited_upload AS awaited JOIN post ON post.id = awaited.post_id
WHERE awaited.upload > $1::uuid ORDER BY awaited.upload LIMIT $2::int

-- name: still_awaited
-- Those among given uploads that posts await.
SELECT upload FROM awaited_upload WHERE upload = ANY ($1::uuid[])

-- name: hashes_without_row
-- The hashes, among those given, that have no row.
SELECT name.hash FROM unnest($1::bytea[]) AS name (hash) WHERE NOT EXISTS (SELECT FROM blob WHERE blob.hash = name.hash)

-- name: media
-- Ordered by blob, so that each is decoded once. Sources are included only if they were accepted: others may be any
-- file.
SELECT asset.id, asset.public_id, asset.blob, asset.role, asset.type, asset.width, asset.height, asset.duration
FROM asset
WHERE (asset.blob, asset.id) > ($1, $2::bigint)
  AND (asset.role NOT LIKE 'source.%'
    OR EXISTS (SELECT FROM post WHERE post.source_set_id = asset.asset_set_id AND status = 'ready')
    OR EXISTS (SELECT FROM image WHERE image.source_set_id = asset.asset_set_id AND status = 'ready'))
ORDER BY asset.blob, asset.id LIMIT $3::int

-- name: inline_content
SELECT inline_content FROM blob WHERE hash = $1

-- name: owners_of_asset
SELECT asset.role, asset_set.is_kept, owner.kind, owner.subject, owner.has_sources
FROM asset JOIN asset_set ON asset_set.id = asset.asset_set_id LEFT JOIN LATERAL (
  SELECT 'post' AS kind, public_id AS subject, source_set_id IS NOT NULL AS has_sources
  FROM post WHERE post.asset_set_id = asset.asset_set_id
  UNION ALL SELECT 'post', public_id, true FROM post WHERE post.source_set_id = asset.asset_set_id
  UNION ALL SELECT 'image', public_id, source_set_id IS NOT NULL
  FROM image WHERE image.asset_set_id = asset.asset_set_id
  UNION ALL SELECT 'image', public_id, true FROM image WHERE image.source_set_id = asset.asset_set_id) AS owner ON true
WHERE asset.public_id = $1::uuid

-- name: clear_inline
UPDATE blob SET inline_content = NULL WHERE hash = $1

-- name: clear_wrong_inline
UPDATE blob SET inline_content = NULL WHERE hash = $1 AND sha256(inline_content) <> hash

-- name: correct_blob
UPDATE blob SET bytes = $2::bigint WHERE hash = $1

-- name: correct_asset
UPDATE asset SET bytes = blob.bytes FROM blob WHERE blob.hash = asset.blob AND asset.public_id = $1::uuid

-- name: add_blob
INSERT INTO blob (hash, bytes) VALUES ($1, $2::bigint) ON CONFLICT (hash) DO NOTHING

-- name: reinstate_set
UPDATE asset_set SET retired_at = NULL
WHERE public_id = $1::uuid
  AND (EXISTS (SELECT FROM post WHERE post.asset_set_id = asset_set.id OR post.source_set_id = asset_set.id)
    OR EXISTS (SELECT FROM image WHERE image.asset_set_id = asset_set.id OR image.source_set_id = asset_set.id))

-- name: set_number
SELECT id FROM asset_set WHERE public_id = $1::uuid

-- name: removable_sets
-- The sets that a collection removes: those that were replaced longer ago than the grace period, and those without
-- references.
SELECT id, retired_at IS NOT NULL AS is_retired
FROM (SELECT id, retired_at, is_kept FROM asset_set WHERE id > $1::bigint ORDER BY id LIMIT $2::int) AS page
WHERE NOT is_kept AND (retired_at IS NULL OR retired_at < statement_timestamp() - make_interval(secs => $3::float8))
  AND NOT EXISTS (SELECT FROM post WHERE post.asset_set_id = page.id)
  AND NOT EXISTS (SELECT FROM post WHERE post.source_set_id = page.id)
  AND NOT EXISTS (SELECT FROM image WHERE image.asset_set_id = page.id)
  AND NOT EXISTS (SELECT FROM image WHERE image.source_set_id = page.id)

-- name: last_set
SELECT max(id) AS id FROM (SELECT id FROM asset_set WHERE id > $1::bigint ORDER BY id LIMIT $2::int) AS page

-- name: orphan_blobs
-- The blobs of a page that neither an asset nor the quarantine refers to, and that were not released: those wait for the end of a pause.
SELECT hash FROM (SELECT hash FROM blob WHERE hash > $1 ORDER BY hash LIMIT $2::int) AS page
WHERE NOT EXISTS (SELECT FROM asset WHERE asset.blob = page.hash)
  AND NOT EXISTS (SELECT FROM quarantined_input WHERE quarantined_input.blob = page.hash)
  AND NOT EXISTS (SELECT FROM blob_release WHERE blob_release.hash = page.hash)

-- name: waiting_blobs
-- The number and the size of the blobs that nothing refers to and that were released within the last $1 seconds.
SELECT count(*) AS blobs, least(coalesce(sum(blob.bytes), 0), 9223372036854775807)::bigint AS bytes
FROM (
  SELECT DISTINCT hash FROM blob_release WHERE released_at > statement_timestamp() - make_interval(secs => $1::float8)) AS released
JOIN blob ON blob.hash = released.hash
WHERE NOT EXISTS (SELECT FROM asset WHERE asset.blob = blob.hash)
  AND NOT EXISTS (SELECT FROM quarantined_input WHERE quarantined_input.blob = blob.hash)

-- name: last_blob
SELECT hash FROM (SELECT hash FROM blob WHERE hash > $1 ORDER BY hash LIMIT $2::int) AS page ORDER BY hash DESC LIMIT 1

-- name: count_removable_blobs
-- The number and the size of the blobs of a page that only removable sets refer to, or none. A set goes with the one that took its place.
-- With a pause of $4 seconds, what a set refers to is only released now, and what was released within it waits.
SELECT count(*) AS blobs, least(coalesce(sum(bytes), 0), 9223372036854775807)::bigint AS bytes
FROM (SELECT hash, bytes FROM blob WHERE hash > $1 ORDER BY hash LIMIT $2::int) AS page
WHERE NOT EXISTS (
  SELECT FROM asset JOIN asset_set ON asset_set.id = asset.asset_set_id
  WHERE asset.blob = page.hash AND (
    asset_set.is_kept OR asset_set.retired_at >= statement_timestamp() - make_interval(secs => $3::float8) AND NOT EXISTS (
      WITH RECURSIVE successors (id) AS (
        SELECT asset_set.replaced_by
        UNION SELECT next.replaced_by FROM asset_set AS next JOIN successors ON next.id = successors.id)
      SELECT FROM successors JOIN asset_set AS last ON last.id = successors.id
      WHERE last.retired_at IS NULL AND NOT last.is_kept
        AND NOT EXISTS (SELECT FROM post WHERE post.asset_set_id = last.id)
        AND NOT EXISTS (SELECT FROM image WHERE image.asset_set_id = last.id))
    OR EXISTS (SELECT FROM post WHERE post.asset_set_id = asset_set.id)
    OR EXISTS (SELECT FROM post WHERE post.source_set_id = asset_set.id)
    OR EXISTS (SELECT FROM image WHERE image.asset_set_id = asset_set.id)
    OR EXISTS (SELECT FROM image WHERE image.source_set_id = asset_set.id)))
  AND NOT EXISTS (SELECT FROM quarantined_input WHERE quarantined_input.blob = page.hash)
  AND ($4::float8 = 0 OR NOT EXISTS (SELECT FROM asset WHERE asset.blob = page.hash) AND NOT EXISTS (
    SELECT FROM blob_release
    WHERE blob_release.hash = page.hash AND released_at > statement_timestamp() - make_interval(secs => $4::float8)))

-- name: definitions_of_subjects
-- The definition of the current media; for a subject without media, that of its job.
SELECT owner.kind, owner.subject, owner.subject_kind, definition.body
FROM (
  SELECT 'post' AS kind, public_id AS subject, kind AS subject_kind, asset_set_id, job FROM post
  WHERE public_id = ANY ($1::uuid[])
  UNION ALL SELECT 'image', public_id, kind, asset_set_id, job FROM image WHERE public_id = ANY ($1::uuid[])) AS owner
LEFT JOIN asset_set ON asset_set.id = owner.asset_set_id
JOIN definition ON definition.hash = coalesce(
  asset_set.definition, (SELECT definition FROM job_done WHERE job_done.public_id = owner.job LIMIT 1))

-- name: sources_of
-- The source files of posts and images.
SELECT DISTINCT blob.hash, blob.bytes FROM (
  SELECT source_set_id FROM post WHERE public_id = ANY ($1::uuid[])
  UNION ALL SELECT source_set_id FROM image WHERE public_id = ANY ($1::uuid[])) AS owner
JOIN asset ON asset.asset_set_id = owner.source_set_id JOIN blob ON blob.hash = asset.blob
ORDER BY blob.hash
