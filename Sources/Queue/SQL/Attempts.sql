-- What the holder of a job does: the token fences every write.

-- name: claim
-- The worker's row is locked: a worker whose row is removed gets no job. Nor does one whose last heartbeat is so old
-- that it would have to stop the job at once. Tokens are derived from the random number of the claim, not from a
-- sequence: after a crash or a failover a sequence can return the same values again. The number also finds the jobs of
-- a lost reply.
WITH live_worker AS MATERIALIZED (
    SELECT id FROM worker
    WHERE id = $1 AND beat_at >= clock_timestamp() - {lease(worker)} * 0.6
    FOR KEY SHARE),
  chosen AS MATERIALIZED (
    SELECT ctid AS row_ctid FROM job
    WHERE state = 'a' AND queue = $2 AND EXISTS (SELECT FROM live_worker)
    ORDER BY rank, id LIMIT $3::int
    FOR NO KEY UPDATE SKIP LOCKED)
UPDATE job SET
  state = 'x', attempt = {counted(job.attempt)}, worker_id = $1, token = $4::bigint # id,
  started_at = clock_timestamp(), deadline_at = {deadline}
WHERE ctid = ANY (ARRAY (SELECT row_ctid FROM chosen)) AND state = 'a'
RETURNING {claimed_columns(clock_timestamp())}

-- name: claimed
-- The jobs of claims whose replies were lost.
SELECT {claimed_columns(started_at)} FROM job
WHERE worker_id = $1 AND state = 'x' AND token # id = ANY ($2::bigint[])

-- name: complete
-- Ends a job with the outcome $3, which is cancelled if the attempt was stopped for that.
WITH ended AS (DELETE FROM job WHERE id = $1 AND token = $2 RETURNING {done_columns}, lost, last_error)
INSERT INTO job_done ({done_columns}, lost, last_error, outcome, result)
SELECT {done_columns}, lost, last_error, $3::"char", $4::jsonb FROM ended
RETURNING id

-- name: confirm
SELECT id FROM job WHERE id = $1 AND token = $2 FOR SHARE

-- name: drop_held
DELETE FROM job WHERE id = $1 AND token = $2 RETURNING id

-- name: fail
-- The attempt failed with the error $3. The pause before the next attempt is $4 seconds after the first, doubles with
-- each further one, and is at most $5 seconds.
WITH rescheduled AS (
    UPDATE job SET
      state = 's', {end_attempt}, last_error = $3,
      run_at = {after({back_off($4::float8, 2, attempt - 1, $5::float8)})}
    WHERE {held} AND {has_attempts}
    RETURNING id),
  ended AS (
    DELETE FROM job WHERE {held} AND NOT {has_attempts}
    RETURNING {dead_columns}, lost, $3::text AS error),
  {buried(ended)}
SELECT true AS runs_again FROM rescheduled UNION ALL SELECT false FROM ended

-- name: release
-- The attempt does not count: a worker that drains returns the job as it was.
UPDATE job SET state = {due_state(limit_name)}, {end_attempt}, attempt = attempt - 1
WHERE {held}
RETURNING id

-- name: requeue
-- The same; the job goes behind all that wait.
UPDATE job SET state = {due_state(limit_name)}, {end_attempt}, attempt = attempt - 1,
  rank = {rank({microseconds(clock_timestamp())}, priority)}
WHERE {held}
RETURNING id

-- name: snooze
-- The attempt does not count: the job waits for something that is not ready.
UPDATE job SET
  state = 's', {end_attempt}, attempt = attempt - 1, run_at = clock_timestamp() + make_interval(secs => $3::float8)
WHERE {held}
RETURNING id

-- name: postpone
-- The attempt does not count: something that every job of its kind needs is missing. The pauses before the next
-- attempt grow from $4 to $5 seconds with the time from postponed_at to the claim; after $6 seconds the job is dead.
WITH rescheduled AS (
    UPDATE job SET
      state = 's', {end_attempt}, attempt = attempt - 1, last_error = $3,
      postponed_at = coalesce(postponed_at, clock_timestamp()),
      run_at = {after({postponement(started_at, $4::float8, $5::float8)})}
    WHERE {held} AND {may_be_postponed(started_at, $6::float8)}
    RETURNING id),
  ended AS (
    DELETE FROM job WHERE {held} AND NOT {may_be_postponed(started_at, $6::float8)}
    RETURNING {dead_columns}, lost, $3::text AS error),
  {buried(ended)}
SELECT true AS runs_again FROM rescheduled UNION ALL SELECT false FROM ended

-- name: progress
-- The job's row is locked: a report that comes too late finds no row and inserts nothing. What was reported goes with the job, also if the
-- end of the job has waited for the report.
INSERT INTO job_progress (job_id, token, fraction, stage)
SELECT job.id, job.token, $3::float8, $4 FROM job WHERE job.id = $1 AND job.token = $2 FOR KEY SHARE
ON CONFLICT (job_id) DO UPDATE SET
  token = excluded.token, fraction = excluded.fraction, stage = excluded.stage, at = clock_timestamp()
RETURNING pg_notify($5, $6)
