-- name: insert_definition
INSERT INTO definition (hash, name, version, body) VALUES ($1, $2, $3::int, $4::jsonb) ON CONFLICT (hash) DO NOTHING

-- name: definition
SELECT body FROM definition WHERE hash = $1

-- name: insert_blob
-- Inserts the row or locks it: a collector that has locked the row is waited for. No row if the blob is a file and this process
-- does not write to the store of the database, or to the one that its blobs move to. Content of a row that is damaged is replaced, or
-- removed where the blob is a file now.
INSERT INTO blob (hash, bytes, inline_content)
SELECT $1, $2::bigint, $3
WHERE $3 IS NOT NULL OR coalesce(
  (SELECT id = ANY ($4::uuid[]) AND (next_id IS NULL OR next_id = ANY ($4::uuid[])) FROM blob_store), true)
ON CONFLICT (hash) DO UPDATE SET inline_content = CASE
  WHEN sha256(blob.inline_content) = blob.hash THEN blob.inline_content
  ELSE excluded.inline_content END
RETURNING hash

-- name: insert_set
INSERT INTO asset_set (public_id, definition, recipe, job) VALUES ($1::uuid, $2, $3, $4::uuid) RETURNING id

-- name: insert_asset
INSERT INTO asset (public_id, asset_set_id, role, blob, type, bytes, width, height, duration, thumbhash, place, color,
  loudness)
VALUES ($1::uuid, $2::bigint, $3, $4, $5, $6::bigint, $7::int, $8::int, $9::float8, $10, $11::smallint, $12, $13::float8)

-- name: insert_post
INSERT INTO post (public_id, status, job, source_set_id, window_state, late_seconds, moderation, is_moderated, {draft_columns})
VALUES ($1::uuid, $2, $3::uuid, $4::bigint, $5, $6::int, CASE WHEN $7::boolean THEN 'hold' END, $7::boolean, {draft_values})

-- name: post
SELECT {post_columns} FROM post WHERE public_id = $1::uuid AND {visible(author, visibility, moderation, status, $2)}

-- name: read_without_bitmaps
-- Of a strong cell among many weak ones, or an author with half of all posts, the planner expects what the average one has. With bitmaps it
-- would read all of it, for each key, though an index has its newest rows.
SELECT set_config('enable_bitmapscan', 'off', true)

-- name: read_in_order_of_index
-- The planner takes every polygon for a small one, and would read all that lies in it before it sorts.
SELECT set_config('enable_sort', 'off', true), set_config('enable_bitmapscan', 'off', true), set_config('enable_seqscan', 'off', true)

-- name: read_in_any_order
SELECT set_config('enable_sort', 'on', true), set_config('enable_seqscan', 'on', true)

-- name: lock_post
-- The lock order of decision 42: the jobs, then the post, then the rows that refer to it.
SELECT id, author FROM post WHERE public_id = $1::uuid AND {visible(author, visibility, moderation, status, $2)} FOR UPDATE

-- name: count_reactions
UPDATE post SET reaction_count = reaction_count + $2::int
WHERE id = (SELECT post_id FROM image WHERE public_id = $1::uuid)

-- name: assets_of_sets
SELECT asset_set_id, {asset_columns}
FROM asset WHERE asset_set_id = ANY ($1::bigint[]) ORDER BY id

-- name: lock_idempotency_key
-- One request at a time runs under a key; a second one does not wait and fails.
SELECT pg_try_advisory_xact_lock(hashtextextended($1 || chr(31) || $2, 1)) AS held

-- name: idempotent_response
SELECT fingerprint, head, status, location, body, tag FROM idempotent_answer
WHERE tenant = $1 AND key = $2 AND created_at >= statement_timestamp() - make_interval(secs => $3::float8)

-- name: await_standbys
-- What this server has committed may not be on its synchronous standbys: a backend that waited for them was ended, or the server has
-- recovered from a crash. A transaction that writes to the log waits until everything before it is there; one that reads does not.
SELECT pg_logical_emit_message(true, 'take5', '')

-- name: insert_response
INSERT INTO idempotent_answer (tenant, key, fingerprint, status, location, body, head, tag)
VALUES ($1, $2, $3, $4::int, $5, $6, $7, $8)
ON CONFLICT (tenant, key) DO UPDATE SET
  fingerprint = excluded.fingerprint, head = excluded.head, status = excluded.status, location = excluded.location, body = excluded.body,
  tag = excluded.tag, created_at = clock_timestamp()

-- name: drop_expired_responses
DELETE FROM idempotent_answer WHERE (tenant, key) IN (
  SELECT tenant, key FROM idempotent_answer
  WHERE created_at < statement_timestamp() - make_interval(secs => $1::float8) ORDER BY created_at LIMIT 1000)

-- name: count_expired_responses
SELECT count(*) AS answers FROM idempotent_answer
WHERE created_at < statement_timestamp() - make_interval(secs => $1::float8)

-- name: has_relations
-- Whether a database is in use; what belongs to an extension does not count.
SELECT EXISTS (
  SELECT FROM pg_class JOIN pg_namespace ON pg_namespace.oid = relnamespace
  WHERE nspname NOT IN ('pg_catalog', 'information_schema') AND nspname !~ '^pg_(toast|temp)'
    AND NOT EXISTS (
      SELECT FROM pg_depend
      WHERE classid = 'pg_class'::regclass AND objid = pg_class.oid AND deptype = 'e')) AS has_relations

-- name: asset
SELECT {asset_columns}, blob.inline_content, asset_set.recipe,
  damage.kind AS damage, damage.error IS NOT NULL AS is_lost
FROM asset JOIN blob ON blob.hash = asset.blob JOIN asset_set ON asset_set.id = asset.asset_set_id
LEFT JOIN blob_damage AS damage ON damage.hash = asset.blob
WHERE asset.public_id = $1::uuid

-- name: sees_asset
-- Whether a user sees what an asset belongs to. A set that was replaced belongs to what its successor belongs to.
WITH RECURSIVE sets (id) AS (
  SELECT asset_set_id FROM asset WHERE public_id = $1::uuid
  UNION SELECT asset_set.replaced_by FROM asset_set JOIN sets ON asset_set.id = sets.id
  WHERE asset_set.replaced_by IS NOT NULL)
SELECT 1 FROM sets JOIN post ON post.asset_set_id = sets.id
WHERE {visible(post.author, post.visibility, post.moderation, post.status, $2)} AND {shows_media(post, $2)}
UNION ALL
SELECT 1 FROM sets JOIN image ON image.asset_set_id = sets.id LEFT JOIN post ON post.id = image.post_id
WHERE (image.post_id IS NULL OR {visible(post.author, post.visibility, post.moderation, post.status, $2)}) AND {shown_image(image, $2)}

-- name: publish
UPDATE post SET status = 'ready', asset_set_id = $2::bigint, reasons = '[]'
WHERE public_id = $1::uuid AND status = 'processing'
RETURNING id, author, foreground, status

-- name: composition
-- The job that makes the outputs of a post that is processed and has no first look yet.
SELECT job FROM post
WHERE public_id = $1::uuid AND status = 'processing' AND asset_set_id IS NULL AND source_set_id IS NOT NULL AND job IS NOT NULL

-- name: show_look
-- No row if the outputs were there first.
UPDATE post SET look = $3, asset_set_id = $2::bigint
WHERE public_id = $1::uuid AND status = 'processing' AND asset_set_id IS NULL
RETURNING author

-- name: set_offset
UPDATE post SET offset_seconds = $2::float8
WHERE public_id = $1::uuid AND offset_seconds IS DISTINCT FROM $2::float8

-- name: reject
UPDATE post SET status = 'rejected', reasons = $2::jsonb WHERE public_id = $1::uuid AND status = 'processing' RETURNING public_id, author

-- name: lock_without_job
-- A post that waits for outputs, and has no job that could make them.
SELECT public_id, kind, author, job, asset_set_id IS NOT NULL AND look IS NULL AS has_outputs FROM post
WHERE public_id = $1::uuid AND status = 'processing' AND source_set_id IS NOT NULL
  AND NOT EXISTS (SELECT FROM job WHERE job.public_id = post.job)
FOR UPDATE

-- name: lock_image_without_job
SELECT public_id, kind, coalesce(author, owner) AS author, job, asset_set_id IS NOT NULL AS has_outputs FROM image
WHERE public_id = $1::uuid AND status = 'processing' AND source_set_id IS NOT NULL
  AND NOT EXISTS (SELECT FROM job WHERE job.public_id = image.job)
FOR UPDATE

-- name: definitions_of_lost_job
-- That of the job if it is known, then the latest of the given names.
SELECT body FROM (
  SELECT body, name, version, hash IN (
    SELECT definition FROM job_done WHERE public_id = $1::uuid
    UNION ALL SELECT definition FROM job_dead WHERE public_id = $1::uuid) AS is_of_job
  FROM definition) AS known
WHERE is_of_job OR name = ANY ($2::text[]) ORDER BY is_of_job DESC, version DESC

-- name: set_job
UPDATE post SET job = $2::uuid WHERE public_id = $1::uuid

-- name: set_job_of_image
UPDATE image SET job = $2::uuid WHERE public_id = $1::uuid

-- name: set_ready
UPDATE post SET status = 'ready' WHERE public_id = $1::uuid

-- name: set_image_ready
UPDATE image SET status = 'ready' WHERE public_id = $1::uuid

-- name: fail
UPDATE post SET status = 'failed' WHERE job = ANY ($1::uuid[]) AND status = 'processing' RETURNING public_id, author

-- name: reopen
UPDATE post SET status = 'processing' WHERE job = ANY ($1::uuid[]) AND status = 'failed' RETURNING id

-- name: drop_sources
-- Detaches the sources from a post, and returns their set.
UPDATE post SET source_set_id = NULL
FROM (SELECT id, source_set_id FROM post WHERE public_id = $1::uuid FOR UPDATE) AS before
WHERE post.id = before.id AND before.source_set_id IS NOT NULL
RETURNING before.source_set_id

-- name: reject_again
-- What was rejected before has the reasons of the latest verdict.
UPDATE post SET reasons = $2::jsonb WHERE public_id = $1::uuid AND status = 'rejected'

-- name: reject_image_again
UPDATE image SET reasons = $2::jsonb WHERE public_id = $1::uuid AND status = 'rejected'

-- fragment: sources_of(id)
(SELECT source_set_id FROM post WHERE public_id = {id}::uuid UNION ALL SELECT source_set_id FROM image WHERE public_id = {id}::uuid)

-- name: keep_rejected
UPDATE asset_set SET rejected_at = clock_timestamp() WHERE id IN {sources_of($1)}

-- name: keep_accepted
UPDATE asset_set SET rejected_at = NULL WHERE id IN {sources_of($1)} AND rejected_at IS NOT NULL

-- name: expired_sources_of_posts
-- The posts whose sources have been kept since their rejection for the given time. The status is asked again once the post is locked.
SELECT post.public_id FROM asset_set JOIN post ON post.source_set_id = asset_set.id
WHERE asset_set.rejected_at <= statement_timestamp() - make_interval(secs => $1::float8) AND post.status = 'rejected'
ORDER BY asset_set.rejected_at LIMIT $2::int FOR UPDATE OF post SKIP LOCKED

-- name: expired_sources_of_images
SELECT image.public_id FROM asset_set JOIN image ON image.source_set_id = asset_set.id
WHERE asset_set.rejected_at <= statement_timestamp() - make_interval(secs => $1::float8) AND image.status = 'rejected'
ORDER BY asset_set.rejected_at LIMIT $2::int FOR UPDATE OF image SKIP LOCKED

-- name: insert_image
INSERT INTO image (public_id, kind, owner, author, status, job, source_set_id, post_id, alternative_text)
VALUES ($1::uuid, $2, $3, $4, 'processing', $5::uuid, $6::bigint, (SELECT id FROM post WHERE $2 = 'reaction' AND public_id = $7::uuid), $8)

-- name: image
SELECT {image_columns}, image.is_hidden, post.author AS post_author
FROM image LEFT JOIN post ON post.id = image.post_id
WHERE image.public_id = $1::uuid AND (image.post_id IS NULL OR {visible(post.author, post.visibility, post.moderation, post.status, $2)})
  AND {shown_image(image, $2)}

-- name: lock_image_owner
-- Serializes the publications of images of one owner.
SELECT pg_advisory_xact_lock(hashtextextended(kind || ':' || owner, 0)) FROM image WHERE public_id = $1::uuid

-- name: is_superseded
SELECT FROM image JOIN image AS newer
  ON newer.kind = image.kind AND newer.owner = image.owner AND newer.id > image.id AND newer.asset_set_id IS NOT NULL
WHERE image.public_id = $1::uuid

-- name: replace_images
-- Detaches the sets of all images that were submitted before, and returns these sets.
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
UPDATE image SET status = 'failed' WHERE job = ANY ($1::uuid[]) AND status = 'processing' RETURNING id

-- name: reopen_image
UPDATE image SET status = 'processing' WHERE job = ANY ($1::uuid[]) AND status = 'failed' RETURNING id

-- name: drop_image_sources
UPDATE image SET source_set_id = NULL
FROM (SELECT id, source_set_id FROM image WHERE public_id = $1::uuid FOR UPDATE) AS before
WHERE image.id = before.id AND before.source_set_id IS NOT NULL
RETURNING before.source_set_id

-- name: release_set
-- Queues the blobs of the set, and of the sets that it replaced, for collection: each loses a reference.
WITH RECURSIVE gone AS (
  SELECT $1::bigint AS id
  UNION SELECT asset_set.id FROM asset_set JOIN gone ON asset_set.replaced_by = gone.id)
INSERT INTO blob_release (hash) SELECT DISTINCT blob FROM asset WHERE asset_set_id IN (SELECT id FROM gone)

-- name: drop_set
WITH RECURSIVE gone AS (
  SELECT $1::bigint AS id
  UNION SELECT asset_set.id FROM asset_set JOIN gone ON asset_set.replaced_by = gone.id)
DELETE FROM asset_set WHERE id IN (SELECT id FROM gone)

-- name: retired_sets
-- Sets whose grace period is over: URLs of their assets need no longer work. A set that a post or an image refers to is
-- never dropped, even if it is marked as retired.
SELECT id, replaced_by FROM asset_set
WHERE retired_at < statement_timestamp() - make_interval(secs => $1::float8) AND NOT is_kept
  AND NOT EXISTS (SELECT FROM post WHERE post.asset_set_id = asset_set.id)
  AND NOT EXISTS (SELECT FROM post WHERE post.source_set_id = asset_set.id)
  AND NOT EXISTS (SELECT FROM image WHERE image.asset_set_id = asset_set.id)
  AND NOT EXISTS (SELECT FROM image WHERE image.source_set_id = asset_set.id)
ORDER BY retired_at LIMIT $2::int FOR UPDATE SKIP LOCKED

-- name: reattach_replaced
-- A kept set that this set had replaced is attached to the successor of this set.
UPDATE asset_set SET replaced_by = $2::bigint WHERE replaced_by = $1::bigint

-- name: database_facts
-- The tables of take5 are those that belong to the owner of its table of migrations. Partitions of the history and
-- migrations need the rights of the owner.
WITH ours AS (
  SELECT relation.oid, relation.relname::text AS name, relation.relowner FROM pg_class relation
  JOIN pg_class migrations ON migrations.oid = to_regclass('schema_migration')
    AND migrations.relnamespace = relation.relnamespace AND migrations.relowner = relation.relowner
  WHERE relation.relkind IN ('r', 'p')
)
SELECT current_setting('server_version') AS version, current_setting('server_version_num')::int AS version_number,
  current_user::text AS role,
  current_setting('transaction_read_only')::boolean OR pg_is_in_recovery() AS is_read_only,
  coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AS may_create,
  NOT EXISTS (SELECT FROM ours WHERE NOT pg_has_role(relowner, 'USAGE')) AS is_owner,
  current_setting('data_checksums') = 'on' AS has_checksums,
  coalesce((
    SELECT string_agg(name, ' ' ORDER BY name) FROM ours
    WHERE NOT (has_table_privilege(oid, 'SELECT') AND has_table_privilege(oid, 'INSERT')
      AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE'))), '') AS closed_tables

-- name: clock
-- Seconds since 1970. Not the start of the transaction, which may be older than the question.
SELECT extract(epoch FROM clock_timestamp())::float8 AS seconds

-- name: is_writable
-- A read-only server refuses row locks, also for zero rows. No other statement locks rows of this table.
SELECT FROM blob_store LIMIT 0 FOR KEY SHARE

-- name: set_age_rule
UPDATE age_rule SET admits_unknown = $1 WHERE admits_unknown <> $1

-- name: insert_event
-- Inserts an event of a user, unless the user caused it, has blocked who caused it, or is being deleted. The row of the count stays locked until the commit.
WITH counted AS (
  INSERT INTO user_event_count AS count (user_id, last)
  SELECT $1, 1 WHERE $1 IS DISTINCT FROM $3::text AND NOT EXISTS (SELECT FROM forgetting WHERE forgetting.user_id = $1)
    AND NOT {is_blocked($1, $3::text)}
  ON CONFLICT (user_id) DO UPDATE SET last = count.last + 1
  RETURNING user_id, last)
INSERT INTO user_event (user_id, number, kind, actor, post, subject, data)
SELECT user_id, last, $2, $3, $4::uuid, $5::uuid, $6::jsonb FROM counted
RETURNING number

-- name: notify_user
SELECT pg_notify($1, $2)

-- name: notify_users
SELECT pg_notify($1, about) FROM unnest($2::text[]) AS about

-- name: lock_user_shared
-- Everything that is stored for a user is stored under this lock. The deletion of the user begins after all of it.
SELECT pg_advisory_xact_lock_shared(hashtextextended('user:' || $1, 3))

-- name: refusal_of_user
-- Whether a user is being deleted, and whether one is suspended.
SELECT EXISTS (SELECT FROM forgetting WHERE user_id = $1) AS is_forgotten,
  EXISTS (SELECT FROM suspension WHERE user_id = $1) AS is_suspended
