-- The deletion of a user. Each statement of a batch takes a limited number of rows, so that no transaction is long.

-- name: lock_user
SELECT pg_advisory_xact_lock(hashtextextended('user:' || $1, 3))

-- name: insert_forgetting
INSERT INTO forgetting (job, user_id) VALUES ($1::uuid, $2) ON CONFLICT (user_id) DO NOTHING RETURNING job

-- name: job_of_forgetting
SELECT job FROM forgetting WHERE user_id = $1

-- name: user_of_forgetting
SELECT user_id FROM forgetting WHERE job = $1::uuid

-- name: drop_responses_to_user
-- Of the user's requests, by the owner of their keys, and of others about the user, by the JSON in $2 and $3.
DELETE FROM idempotent_answer WHERE (tenant, key) IN (
  SELECT tenant, key FROM idempotent_answer
  WHERE answer_users(tenant, body) && ARRAY['/' || $1, encode($2::bytea, 'escape'), encode($3::bytea, 'escape')]
  LIMIT $4::int)

-- name: blank_finished_jobs
UPDATE job_done SET author = NULL
WHERE (tableoid, ctid) IN (SELECT tableoid, ctid FROM job_done WHERE author = $1 LIMIT $2::int)

-- name: blank_dead_jobs
UPDATE job_dead SET author = NULL, limit_name = NULL
WHERE id IN (SELECT id FROM job_dead WHERE author = $1 LIMIT $2::int)

-- name: blank_jobs
-- Those that a worker still performs: they were cancelled, and end without an effect.
UPDATE job SET author = NULL, limit_name = NULL
WHERE id IN (SELECT id FROM job WHERE author = $1 ORDER BY public_id LIMIT $2::int FOR UPDATE)

-- name: blank_runs
UPDATE reprocess_run SET selection = selection #- '{selection,author}' WHERE selection #>> '{selection,author}' = $1

-- name: drop_share
DELETE FROM job_share WHERE name = $1

-- name: drop_limit
DELETE FROM job_limit WHERE name = $1

-- name: drop_forgetting
DELETE FROM forgetting WHERE user_id = $1

-- name: note_forgotten
INSERT INTO forgotten_user (digest) VALUES (sha256(convert_to($1, 'UTF8')))
ON CONFLICT (digest) DO UPDATE SET forgotten_at = excluded.forgotten_at

-- name: forgotten_users
-- When users were deleted, of those with the given digests.
SELECT digest, forgotten_at FROM forgotten_user WHERE digest = ANY ($1::bytea[])

-- name: drop_old_forgotten
-- No upload lives longer: it is the maximum of --upload-lifetime.
DELETE FROM forgotten_user WHERE forgotten_at < statement_timestamp() - interval '31 days'
