-- fragment: subjects
-- The posts and images of a selection, the newest first, each with the definition for its kind and its media. A parameter that is
-- NULL does not filter.
SELECT subject.subject_kind, subject.subject, subject.kind, wanted.definition, subject.job,
  made.hash AS made_by, made.name AS made_name, made.version AS made_version
FROM (
  SELECT 'post' AS subject_kind, public_id AS subject, kind,
    -- The media of what moderators hold or have hidden are ready.
    CASE WHEN status IN ('held', 'hidden') THEN 'ready' ELSE status END AS status, author, created_at, reasons, job, asset_set_id, source_set_id,
    -- A marker has a clip or a photo.
    kind = 'take5' OR kind = 'marker' AND EXISTS (
      SELECT FROM asset WHERE asset.asset_set_id IN (source_set_id, post.asset_set_id) AND asset.role IN ('source.clip', 'clip')) AS has_clips
  FROM post WHERE status IN ('ready', 'held', 'hidden', 'failed', 'rejected')
  UNION ALL
  SELECT 'image', public_id, kind, status, coalesce(author, owner), created_at, reasons, job, asset_set_id, source_set_id, false
  FROM image WHERE status IN ('ready', 'failed', 'rejected')) AS subject
JOIN unnest($1::text[], $2::bytea[], $3::boolean[]) AS wanted (kind, definition, is_for_clips)
  ON wanted.kind = subject.kind AND wanted.is_for_clips = subject.has_clips
LEFT JOIN asset_set AS current_set ON current_set.id = subject.asset_set_id
LEFT JOIN definition AS made ON made.hash = current_set.definition
WHERE (subject.source_set_id IS NOT NULL) = $4::boolean
  AND subject.status = ANY ($5::text[])
  AND ($6::text IS NULL OR made.name = $6)
  AND ($7::int IS NULL OR made.version < $7)
  AND ($8::timestamptz IS NULL OR subject.created_at >= $8)
  AND ($9::timestamptz IS NULL OR subject.created_at < $9)
  AND ($10::text[] IS NULL OR subject.author = ANY ($10))
  AND ($11::uuid[] IS NULL OR subject.subject = ANY ($11))
  AND ($12::text IS NULL OR NOT EXISTS (
    SELECT FROM asset WHERE asset.asset_set_id = subject.asset_set_id AND asset.role = $12))
  AND ($13::text IS NULL
    OR EXISTS (SELECT FROM job_dead WHERE public_id = subject.job AND strpos(lower(last_error), lower($13)) > 0)
    OR EXISTS (SELECT FROM job_done WHERE public_id = subject.job AND strpos(lower(last_error), lower($13)) > 0)
    OR EXISTS (SELECT FROM reprocess_item AS item
               WHERE item.subject = subject.subject AND strpos(lower(item.error), lower($13)) > 0))
  AND ($15::text IS NULL OR subject.reasons @> jsonb_build_array(jsonb_build_object('code', $15)))
ORDER BY subject.created_at DESC, subject.subject DESC
LIMIT $14::bigint

-- name: summarize
-- The subjects of a selection by kind and by the definitions of their current and their next outputs: their number, and the mean
-- time of a sample of their jobs.
WITH chosen AS MATERIALIZED ({subjects})
SELECT kind, definition, made_name, made_version, definition = made_by IS TRUE AS is_same, count(*) AS subjects,
  (SELECT avg(extract(epoch FROM finished_at - started_at))::float8
   FROM job_done
   WHERE outcome = 'a' AND public_id = ANY ((array_agg(chosen.job ORDER BY chosen.subject DESC))[1:200])) AS seconds,
  (SELECT stored.body::text FROM definition AS stored WHERE stored.hash = made_by) AS made_body
FROM chosen GROUP BY kind, definition, made_name, made_version, made_by, is_same
ORDER BY kind, made_name, made_version, definition, made_by

-- name: insert_run
INSERT INTO reprocess_run (public_id, selection, keeps_old, is_forced, priority, rate)
VALUES ($1::uuid, $2::jsonb, $3::boolean, $4::boolean, $5::smallint, $6::float8)
RETURNING id

-- name: insert_items
INSERT INTO reprocess_item (run_id, subject_kind, subject, definition)
SELECT $16::bigint, subject_kind, subject, definition FROM ({subjects}) AS chosen
RETURNING run_id

-- name: may_remake
-- Whether the outputs of a moment can be made again by the definition that made them.
SELECT FROM post JOIN asset_set AS made ON made.id = post.asset_set_id
WHERE post.public_id = $1::uuid AND post.kind = 'take5' AND post.status IN ('ready', 'held', 'hidden') AND post.source_set_id IS NOT NULL
  AND made.definition IS NOT NULL

-- name: insert_item_of_post
INSERT INTO reprocess_item (run_id, subject_kind, subject, definition)
SELECT $1::bigint, 'post', post.public_id, made.definition
FROM post JOIN asset_set AS made ON made.id = post.asset_set_id WHERE post.public_id = $2::uuid

-- name: drop_run
DELETE FROM reprocess_run WHERE id = $1

-- name: drop_old_items
-- Of runs that ended some time ago. What a cancelled run had started may still be executing.
DELETE FROM reprocess_item WHERE outcome IS NOT NULL AND ctid = ANY (ARRAY (
  SELECT item.row_ctid
  FROM (
    SELECT id FROM reprocess_run WHERE ended_at < statement_timestamp() - make_interval(secs => $1::float8)
    ORDER BY ended_at LIMIT 1000) AS run
  CROSS JOIN LATERAL (
    SELECT ctid AS row_ctid FROM reprocess_item WHERE run_id = run.id AND outcome IS NOT NULL
    ORDER BY subject LIMIT 1000) AS item
  LIMIT 1000))

-- name: drop_old_runs
DELETE FROM reprocess_run WHERE ended_at < statement_timestamp() - make_interval(secs => $1::float8) AND ctid = ANY (ARRAY (
  SELECT ctid FROM reprocess_run AS run
  WHERE ended_at < statement_timestamp() - make_interval(secs => $1::float8)
    AND NOT EXISTS (SELECT FROM reprocess_item WHERE run_id = run.id)
  ORDER BY ended_at LIMIT 1000))

-- name: runs
SELECT id, public_id, state, selection, keeps_old, is_forced, priority, rate, created_at, ended_at
FROM reprocess_run
WHERE $2::uuid IS NULL OR id < (SELECT id FROM reprocess_run WHERE public_id = $2::uuid)
ORDER BY id DESC LIMIT $1::int

-- name: run
SELECT id, public_id, state, selection, keeps_old, is_forced, priority, rate, created_at, ended_at
FROM reprocess_run WHERE public_id = $1::uuid

-- name: count_items
SELECT coalesce(outcome, CASE WHEN job IS NULL THEN 'waiting' ELSE 'started' END) AS state, count(*) AS items,
  sum(seconds) AS seconds
FROM reprocess_item WHERE run_id = $1 GROUP BY 1

-- name: failures
SELECT subject_kind, subject, error FROM reprocess_item
WHERE run_id = $1 AND outcome = 'failed' ORDER BY subject LIMIT $2::int

-- name: retried_items
-- Items whose last attempt failed and that have another one, such as those that wait for a newer worker.
SELECT item.subject_kind, item.subject, job.last_error AS error
FROM reprocess_item AS item JOIN job ON job.public_id = item.job
WHERE item.run_id = $1 AND item.outcome IS NULL AND item.job IS NOT NULL AND job.last_error IS NOT NULL
ORDER BY item.subject LIMIT $2::int

-- name: lock_run
SELECT state FROM reprocess_run WHERE id = $1 FOR NO KEY UPDATE

-- name: set_state
UPDATE reprocess_run SET
  state = $2, fed_at = clock_timestamp(), ended_at = CASE WHEN $2 = 'cancelled' THEN clock_timestamp() END
WHERE id = $1

-- name: cancel_items
-- Items that have not started; the others end with their jobs.
UPDATE reprocess_item SET outcome = 'cancelled', ended_at = clock_timestamp()
WHERE run_id = $1 AND outcome IS NULL AND job IS NULL

-- name: started_jobs
SELECT job FROM reprocess_item WHERE run_id = $1 AND outcome IS NULL AND job IS NOT NULL ORDER BY job

-- fragment: rate
-- That of a run, within what requests may ask for: earlier versions stored any.
least(greatest(rate, 0.00001), 100000)

-- name: running
-- How long the oldest running run has run, in seconds, and how many items of all wait for their turn, as far as LIMIT counts.
SELECT coalesce(extract(epoch FROM clock_timestamp() - (SELECT min(created_at) FROM reprocess_run WHERE state = 'running')), 0)::float8 AS seconds,
  (SELECT count(*) FROM (
    SELECT FROM reprocess_run AS run JOIN reprocess_item AS item ON item.run_id = run.id
    WHERE run.state = 'running' AND item.outcome IS NULL AND item.job IS NULL LIMIT 100000) AS waiting) AS items

-- name: runs_to_schedule
-- The running runs, with the number of items that the rate allows to start now. A run that another worker has locked is
-- skipped.
SELECT id, public_id, priority, rate,
  CASE WHEN rate IS NULL THEN 1e9
    ELSE extract(epoch FROM clock_timestamp() - fed_at)::float8 * {rate} END AS allowed,
  (SELECT count(*) FROM reprocess_item WHERE run_id = reprocess_run.id AND outcome IS NULL AND job IS NOT NULL) AS started
FROM reprocess_run WHERE state = 'running' ORDER BY id
FOR NO KEY UPDATE SKIP LOCKED

-- name: next_items
SELECT subject_kind, subject, definition FROM reprocess_item
WHERE run_id = $1 AND outcome IS NULL AND job IS NULL ORDER BY subject LIMIT $2::int
FOR NO KEY UPDATE

-- name: start_items
UPDATE reprocess_item SET job = given.job
FROM unnest($2::uuid[], $3::uuid[]) AS given (subject, job)
WHERE run_id = $1 AND reprocess_item.subject = given.subject AND outcome IS NULL

-- name: advance_rate
-- Unused allowance accumulates for at most one second, or for one item.
UPDATE reprocess_run SET fed_at = greatest(
  fed_at + make_interval(secs => $2::int / {rate}), clock_timestamp() - make_interval(secs => greatest(1, 1 / {rate})))
WHERE id = $1 AND rate IS NOT NULL

-- name: complete_run
-- The order leads to the index of the waiting items. Without it the items that have ended would be read until the first one that has not,
-- each second.
UPDATE reprocess_run SET state = 'completed', ended_at = clock_timestamp()
WHERE id = $1 AND state = 'running'
  AND (SELECT subject FROM reprocess_item WHERE run_id = $1 AND outcome IS NULL AND job IS NULL ORDER BY subject LIMIT 1) IS NULL
  AND NOT EXISTS (SELECT FROM reprocess_item WHERE run_id = $1 AND outcome IS NULL AND job IS NOT NULL)
RETURNING id

-- name: item
-- The item of a job, with the current set of its subject. The recipe of a set with a damaged blob is NULL, so that the
-- set is made again.
SELECT item.run_id, item.subject_kind, item.subject, run.state, run.keeps_old, run.is_forced,
  coalesce(post.asset_set_id, image.asset_set_id) AS asset_set_id,
  CASE WHEN NOT EXISTS (
    SELECT FROM asset JOIN blob_damage ON blob_damage.hash = asset.blob WHERE asset.asset_set_id = current_set.id)
    THEN current_set.recipe END AS recipe
FROM reprocess_item AS item
JOIN reprocess_run AS run ON run.id = item.run_id
LEFT JOIN post ON item.subject_kind = 'post' AND post.public_id = item.subject
LEFT JOIN image ON item.subject_kind = 'image' AND image.public_id = item.subject
LEFT JOIN asset_set AS current_set ON current_set.id = coalesce(post.asset_set_id, image.asset_set_id)
WHERE item.job = $1::uuid AND item.outcome IS NULL

-- name: blobs_of_set
-- The blobs of a set that are stored as files.
SELECT DISTINCT blob.hash FROM asset JOIN blob ON blob.hash = asset.blob
WHERE asset.asset_set_id = $1 AND blob.inline_content IS NULL

-- name: end_item
UPDATE reprocess_item SET outcome = $2, error = $3, seconds = $4::float8, ended_at = clock_timestamp()
WHERE job = $1::uuid AND outcome IS NULL
RETURNING run_id

-- name: requeue_item
-- The run of the item is paused: the item waits again.
UPDATE reprocess_item SET job = NULL WHERE job = $1::uuid AND outcome IS NULL RETURNING run_id

-- name: end_items_of_jobs
UPDATE reprocess_item SET
  outcome = CASE WHEN run.state = 'cancelled' THEN 'cancelled' ELSE 'failed' END, ended_at = clock_timestamp(),
  error = CASE WHEN run.state <> 'cancelled'
    THEN coalesce((SELECT last_error FROM job_dead WHERE public_id = reprocess_item.job), 'the job was cancelled') END
FROM reprocess_run AS run
WHERE run.id = reprocess_item.run_id AND reprocess_item.job = ANY ($1::uuid[]) AND reprocess_item.outcome IS NULL

-- name: reopen_items_of_jobs
-- An operator retries a dead job: its run is running again.
WITH reopened AS (
  UPDATE reprocess_item SET outcome = NULL, error = NULL, ended_at = NULL
  WHERE job = ANY ($1::uuid[]) AND outcome = 'failed' RETURNING run_id)
UPDATE reprocess_run SET state = 'running', ended_at = NULL
WHERE id IN (SELECT run_id FROM reopened) AND state = 'completed'

-- name: swap_post
-- The write that makes the new outputs visible. No row if the post has another set by now.
UPDATE post SET asset_set_id = $3::bigint
WHERE public_id = $1::uuid AND status IN ('ready', 'held', 'hidden') AND asset_set_id = $2::bigint
RETURNING id, foreground

-- name: swap_image
UPDATE image SET asset_set_id = $3::bigint
WHERE public_id = $1::uuid AND status = 'ready' AND asset_set_id = $2::bigint
RETURNING id

-- name: retire_set
UPDATE asset_set SET retired_at = clock_timestamp(), replaced_by = $2::bigint, is_kept = $3::boolean WHERE id = $1

-- name: reopen_post
-- A post that failed or was rejected becomes one that waits for its first outputs.
UPDATE post SET status = 'processing' WHERE public_id = $1::uuid AND status IN ('failed', 'rejected') RETURNING id

-- name: reopen_image
UPDATE image SET status = 'processing' WHERE public_id = $1::uuid AND status IN ('failed', 'rejected') RETURNING id
