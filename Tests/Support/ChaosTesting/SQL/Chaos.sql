-- name: order
INSERT INTO chaos_order (id) VALUES ($1::uuid) ON CONFLICT (id) DO NOTHING RETURNING id

-- name: absorb
UPDATE chaos_order SET absorbed = true WHERE id = $1::uuid

-- name: ordered
SELECT id, absorbed FROM chaos_order WHERE id = ANY ($1::uuid[])

-- name: effect
INSERT INTO chaos_effect (job, token) VALUES ($1::uuid, $2)

-- name: live
SELECT (SELECT count(*) FROM job) + (SELECT count(*) FROM job_member)

-- name: terminate
SELECT pg_terminate_backend(pid) FROM pg_stat_activity
WHERE application_name = $1 AND datname = current_database() AND pid <> pg_backend_pid()

-- name: orders
SELECT id, absorbed FROM chaos_order

-- name: fates
SELECT public_id, kind, state::text AS place, token, attempt, max_attempts, lost FROM job
UNION ALL SELECT public_id, kind, 'x', token, attempt, max_attempts, lost FROM job_member
UNION ALL SELECT public_id, kind, 'done ' || outcome::text, token, attempt, max_attempts, lost FROM job_done
UNION ALL SELECT public_id, kind, 'dead', NULL, attempt, max_attempts, lost FROM job_dead

-- name: hurry_cron
-- An entry is due at once.
UPDATE cron_entry SET next_at = clock_timestamp() - interval '1 second'

-- name: cron_entries
SELECT name FROM cron_entry WHERE kind = 'cron'

-- name: effects
SELECT job, token FROM chaos_effect

-- name: passages
SELECT at, transaction, job, from_state, to_state, from_token, to_token, worker, lost, run_at FROM chaos_passage ORDER BY id

-- name: workers
SELECT worker, process FROM chaos_worker

-- name: age_history
-- A day of long ago, and one to come that nobody has made yet.
SELECT chaos_age_history()

-- name: ordered_jobs
SELECT count(*) FROM chaos_order WHERE NOT absorbed

-- name: posts
-- A post, how many sets of outputs its job made, and how often its job is over.
SELECT public_id, status, (SELECT count(*) FROM asset_set WHERE asset_set.job = post.job) AS sets,
  (SELECT count(*) FROM job_done WHERE job_done.public_id = post.job AND outcome = 'a') AS ends,
  (SELECT count(*) FROM asset WHERE asset.asset_set_id = post.asset_set_id) AS assets
FROM post

-- name: files
SELECT encode(hash, 'hex') AS hash, bytes FROM blob WHERE inline_content IS NULL

-- name: unfinished
SELECT count(*) FROM post WHERE status <> 'ready'
