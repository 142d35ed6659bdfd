-- name: order
INSERT INTO chaos_order (id) VALUES ($1::uuid) ON CONFLICT (id) DO NOTHING RETURNING id

-- name: absorb
UPDATE chaos_order SET absorbed = true WHERE id = $1::uuid

-- name: ordered
SELECT id, absorbed FROM chaos_order WHERE id = ANY ($1::uuid[])

-- name: effect
INSERT INTO chaos_effect (job, token) VALUES ($1::uuid, $2)

-- name: live
SELECT count(*) FROM job

-- name: terminate
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = $1 AND datname = current_database() AND pid <> pg_backend_pid()

-- name: orders
SELECT id, absorbed FROM chaos_order

-- name: outcomes
SELECT public_id, state::text AS state, token, attempt, max_attempts, lost FROM job
UNION ALL SELECT public_id, 'done ' || outcome::text, token, attempt, max_attempts, lost FROM job_done
UNION ALL SELECT public_id, 'dead', NULL, attempt, max_attempts, lost FROM job_dead

-- name: effects
SELECT job, token FROM chaos_effect

-- name: transitions
SELECT at, transaction, job, from_state, to_state, from_token, to_token, worker, lost, run_at
FROM chaos_transition ORDER BY id

-- name: workers
SELECT worker, process FROM chaos_worker

-- name: age_history
-- Creates an expired partition and removes a future one.
SELECT chaos_age_history()

-- name: ordered_jobs
SELECT count(*) FROM chaos_order WHERE NOT absorbed

-- name: posts
-- The posts, with the numbers of asset sets and of ends of their jobs.
SELECT public_id, status, (SELECT count(*) FROM asset_set WHERE asset_set.job = post.job) AS sets,
  (SELECT count(*) FROM job_done WHERE job_done.public_id = post.job AND outcome = 'a') AS ends,
  (SELECT count(*) FROM asset WHERE asset.asset_set_id = post.asset_set_id) AS assets
FROM post

-- name: files
SELECT encode(hash, 'hex') AS hash, bytes FROM blob WHERE inline_content IS NULL

-- name: unfinished_posts
SELECT count(*) FROM post WHERE status <> 'ready'

-- name: unfinished_media
SELECT (SELECT count(*) FROM post WHERE status <> 'ready') + (SELECT count(*) FROM image WHERE status <> 'ready')

-- name: connections
SELECT count(*) FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()

-- name: latest_run
-- The latest run of a kind.
SELECT public_id, state, (SELECT count(*) FROM reprocess_item WHERE run_id = run.id AND outcome = 'failed') AS failed
FROM reprocess_run AS run WHERE selection #> '{selection,kinds}' @> to_jsonb(ARRAY[$1::text]) ORDER BY id DESC LIMIT 1

-- name: reprocess_runs
-- The outcomes of the items of each run, and the numbers of items with a wrong number of asset sets or ends of jobs.
WITH created AS (SELECT job, count(*) AS sets FROM asset_set WHERE job IS NOT NULL GROUP BY job),
ended AS (SELECT public_id, count(*) AS ends FROM job_done WHERE outcome = 'a' GROUP BY public_id)
SELECT run.public_id, run.state, count(*) AS items,
  count(*) FILTER (WHERE item.outcome = 'done') AS done, count(*) FILTER (WHERE item.outcome = 'skipped') AS skipped,
  count(*) FILTER (WHERE coalesce(created.sets, 0) <> CASE item.outcome WHEN 'done' THEN 1 ELSE 0 END) AS wrong_sets,
  count(*) FILTER (WHERE coalesce(ended.ends, 0) <> 1) AS wrong_ends
FROM reprocess_run AS run JOIN reprocess_item AS item ON item.run_id = run.id
LEFT JOIN created ON created.job = item.job LEFT JOIN ended ON ended.public_id = item.job
GROUP BY run.id ORDER BY run.id

-- name: reprocess_attempts
SELECT coalesce(sum(attempt), 0) AS attempts, coalesce(sum(lost), 0) AS lost FROM job_done WHERE kind = 'reprocess'

-- fragment: is_look(set)
-- Whether a set is, or was, a first look.
({set}.job IN (SELECT public_id FROM job_done WHERE kind = 'look'))

-- name: histories
-- All posts and images, with the version of their definition and the number of replaced sets, first looks apart.
WITH RECURSIVE subject AS (
  SELECT public_id, status, asset_set_id FROM post UNION ALL SELECT public_id, status, asset_set_id FROM image),
history AS (
  SELECT public_id, asset_set_id AS set_id FROM subject
  UNION ALL
  SELECT history.public_id, older.id FROM history JOIN asset_set AS older
    ON older.replaced_by = history.set_id AND {is_look(older)} IS NOT TRUE)
SELECT subject.public_id, subject.status, definition.version, asset_set.retired_at IS NULL AS is_current,
  (SELECT count(*) - 1 FROM history WHERE history.public_id = subject.public_id) AS replaced
FROM subject JOIN asset_set ON asset_set.id = subject.asset_set_id JOIN definition ON definition.hash = asset_set.definition

-- name: sets
-- The numbers of asset sets, first looks apart, and of orphans among all.
WITH RECURSIVE subject AS (
  SELECT asset_set_id, source_set_id FROM post UNION ALL SELECT asset_set_id, source_set_id FROM image),
known AS (
  SELECT asset_set_id AS id FROM subject
  UNION
  SELECT source_set_id FROM subject
  UNION
  SELECT older.id FROM known JOIN asset_set AS older ON older.replaced_by = known.id)
SELECT count(*) FILTER (WHERE {is_look(asset_set)} IS NOT TRUE) AS sets, count(*) FILTER (WHERE id NOT IN (SELECT id FROM known WHERE id IS NOT NULL)) AS orphans
FROM asset_set

-- name: differing_assets
-- The assets that differ although their sources and definitions are the same, or that have different recipes, as only those of first looks may.
WITH RECURSIVE subject AS (
  SELECT asset_set_id, source_set_id FROM post UNION ALL SELECT asset_set_id, source_set_id FROM image),
history AS (
  SELECT source_set_id, asset_set_id AS set_id FROM subject
  UNION ALL
  SELECT history.source_set_id, older.id FROM history JOIN asset_set AS older ON older.replaced_by = history.set_id),
source AS (
  SELECT asset_set_id, string_agg(role || place || encode(blob, 'hex'), ' ' ORDER BY role, place) AS sources
  FROM asset GROUP BY asset_set_id)
SELECT source.sources, asset.role, asset.place, count(*) AS count
FROM history JOIN asset_set ON asset_set.id = history.set_id
JOIN source ON source.asset_set_id = history.source_set_id
JOIN asset ON asset.asset_set_id = history.set_id
GROUP BY source.sources, asset_set.definition, asset.role, asset.place
HAVING count(DISTINCT asset.blob) > 1 OR count(DISTINCT asset_set.recipe) FILTER (WHERE {is_look(asset_set)} IS NOT TRUE) > 1

-- name: orphan_blobs
SELECT (SELECT count(*) FROM blob WHERE NOT EXISTS (SELECT FROM asset WHERE asset.blob = blob.hash))
  + (SELECT count(*) FROM blob_release)
