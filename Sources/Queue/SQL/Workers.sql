-- Workers, and the maintenance that one of them performs for all.

-- name: register
INSERT INTO worker (host, process, lease_seconds, slots) VALUES ($1, $2, $3::float8, $4::int) RETURNING id

-- name: deregister
-- Jobs that the worker still holds have no worker from now on: the next reap takes them, whatever the lease. Another worker
-- takes the turn.
WITH ended_turn AS (UPDATE maintenance_turn SET ends_at = '-infinity' WHERE worker_id = $1)
DELETE FROM worker WHERE id = $1

-- name: take_turn
-- The worker whose turn it is performs the maintenance for all, and takes the turn again before it ends. Another worker takes it once
-- it has ended, or if it ends too late: then the clock of the server was set back. The commit does not wait for the disk, as
-- that of a heartbeat.
WITH taken AS (
    UPDATE maintenance_turn SET worker_id = $1, ends_at = statement_timestamp() + make_interval(secs => $2::float8)
    WHERE (worker_id = $1 OR ends_at < statement_timestamp()
        OR ends_at > statement_timestamp() + make_interval(secs => 2 * $2::float8))
      AND set_config('synchronous_commit', 'off', true) = 'off'
    RETURNING worker_id),
  inserted AS (
    INSERT INTO maintenance_turn (worker_id, ends_at)
    SELECT $1, statement_timestamp() + make_interval(secs => $2::float8)
    WHERE NOT EXISTS (SELECT FROM maintenance_turn)
    ON CONFLICT (is_only) DO NOTHING
    RETURNING worker_id)
-- The seconds until the turn of another worker ends; null: the worker has it. And the number of workers.
SELECT ends_in, (SELECT count(*) FROM worker) AS workers FROM (
  SELECT NULL::float8 AS ends_in FROM taken
  UNION ALL SELECT NULL FROM inserted
  UNION ALL SELECT extract(epoch FROM ends_at - statement_timestamp())::float8 FROM maintenance_turn WHERE NOT EXISTS (SELECT FROM taken)) AS turn

-- name: heartbeat
-- Returns the leases that the worker has lost, the jobs that are to be cancelled, and whether the worker's row is gone.
-- The commit does not wait for the disk: if a crash loses the new time, the lease only ends earlier.
-- The time of a pause that is longer than the lease is no time of an attempt: the worker was frozen, or the clock has stepped.
WITH paused AS MATERIALIZED (
    SELECT id AS paused_id, clock_timestamp() - beat_at AS pause FROM worker
    WHERE id = $1 AND beat_at < clock_timestamp() - {lease(worker)}),
  prolonged AS (
    UPDATE job SET deadline_at = deadline_at + pause FROM paused WHERE worker_id = paused_id AND state = 'x'),
  renewed AS (
  UPDATE worker SET beat_at = clock_timestamp(), recent = $4::jsonb
  WHERE id = $1 AND set_config('synchronous_commit', 'off', true) = 'off'
  RETURNING id)
SELECT held.token, job.token IS DISTINCT FROM held.token AS lost, job.cancel_at IS NOT NULL AS cancelled,
  NOT EXISTS (SELECT FROM renewed) AS evicted
FROM (SELECT NULL::bigint AS id, NULL::bigint AS token
      UNION ALL SELECT * FROM unnest($2::bigint[], $3::bigint[])) AS held
LEFT JOIN job ON job.id = held.id AND job.state = 'x'
WHERE held.id IS NULL OR job.token IS DISTINCT FROM held.token OR job.cancel_at IS NOT NULL

-- name: reap
-- Takes jobs from workers whose lease has expired, and jobs past their deadline. A job is rescheduled; or dead, if it
-- was blamed $1 times or has no attempts left; or cancelled, if that was requested. The state is compared again before
-- each write: a job that ended meanwhile is not changed.
-- A job past its deadline is blamed. A job whose worker was lost is blamed if it was in a stage that can crash a worker
-- ($2), if the worker held no other job and did not deregister, and if no other job was lost within $3 seconds. Without
-- blame the attempt does not count, and the job is rescheduled for up to $4 seconds, with pauses that grow from $5 to
-- $6 seconds with the time and with the number of losses: a clock that steps forward adds time alone.
WITH expired AS MATERIALIZED (
    SELECT job.id, job.token, job.worker_id, job.attempt, job.max_attempts, job.blamed, job.postponed_at,
      job.cancel_at IS NOT NULL AS cancelled, worker.id IS NOT NULL AS is_registered,
      worker.id IS NULL OR worker.beat_at < clock_timestamp() - {lease(worker)} AS is_lost
    FROM job LEFT JOIN worker ON worker.id = job.worker_id
    WHERE job.state = 'x' AND (
      job.deadline_at < clock_timestamp()
      OR worker.id IS NULL
      OR worker.beat_at < clock_timestamp() - {lease(worker)})
    LIMIT 500
    FOR NO KEY UPDATE OF job SKIP LOCKED),
  lost_workers AS MATERIALIZED (
    SELECT worker_id, CASE WHEN count(*) = 1 THEN min(id) END AS job_id
    FROM expired WHERE is_lost AND worker_id IS NOT NULL GROUP BY worker_id),
  recorded_losses AS (
    INSERT INTO worker_loss (worker_id, job_id) SELECT worker_id, job_id FROM lost_workers
    ON CONFLICT (worker_id) DO UPDATE SET job_id = NULL WHERE worker_loss.job_id IS DISTINCT FROM excluded.job_id),
  judged AS MATERIALIZED (
    SELECT expired.*,
      CASE WHEN is_lost THEN 'the worker was lost' ELSE 'the deadline passed' END AS error,
      NOT is_lost OR (
        is_registered
        AND EXISTS (SELECT FROM lost_workers WHERE lost_workers.worker_id = expired.worker_id AND job_id = expired.id)
        AND EXISTS (
          SELECT FROM job_progress
          WHERE job_id = expired.id AND job_progress.token = expired.token AND stage = ANY ($2::text[]))
        AND NOT EXISTS (SELECT FROM lost_workers WHERE lost_workers.worker_id <> expired.worker_id)
        AND NOT EXISTS (
          SELECT FROM job AS other
          WHERE other.worker_id = expired.worker_id AND other.state = 'x' AND other.id <> expired.id)
        AND NOT EXISTS (
          SELECT FROM worker_loss
          WHERE lost_at > clock_timestamp() - make_interval(secs => $3::float8)
            AND job_id IS DISTINCT FROM expired.id)) AS is_blamed
    FROM expired),
  decided AS MATERIALIZED (
    SELECT id AS decided_id, error, is_blamed, cancelled,
      CASE WHEN is_blamed THEN {has_attempts} AND blamed + 1 < $1::int
        ELSE {may_be_postponed(clock_timestamp(), $4::float8)} END AS may_return
    FROM judged),
  rescheduled AS (
    UPDATE job SET
      state = 's', {end_attempt}, lost = {counted(lost)}, last_error = error,
      blamed = least(blamed + is_blamed::int, 32767), attempt = greatest(attempt - (NOT is_blamed)::int, 0),
      postponed_at = CASE WHEN is_blamed THEN postponed_at ELSE coalesce(postponed_at, clock_timestamp()) END,
      run_at = {after(CASE WHEN is_blamed THEN {back_off(1, 4, lost, 256)}
        ELSE least({back_off($5::float8, 4, lost, $6::float8)}, {postponement(clock_timestamp(), $5::float8, $6::float8)}) END)}
    FROM decided
    WHERE id = decided_id AND state = 'x' AND may_return AND NOT cancelled
    RETURNING id, public_id, kind),
  ended AS (
    DELETE FROM job USING decided
    WHERE id = decided_id AND state = 'x' AND (cancelled OR NOT may_return)
    RETURNING {dead_columns}, worker_id, token, {counted(lost)} AS lost, error, cancelled),
  {buried(ended WHERE NOT cancelled)},
  done AS (
    INSERT INTO job_done ({done_columns}, lost, last_error, outcome)
    SELECT {done_columns}, lost, error, 'c' FROM ended WHERE cancelled)
SELECT id, public_id, kind, 's' AS state FROM rescheduled
UNION ALL SELECT id, public_id, kind, CASE WHEN cancelled THEN 'c' ELSE 'd' END FROM ended

-- name: next_expiry
-- The seconds until the first lease or deadline of a running job ends; NULL: none runs. The wall clock, as leases are read by it.
SELECT (extract(epoch FROM min(least(job.deadline_at, worker.beat_at + {lease(worker)})))
  - extract(epoch FROM clock_timestamp()))::float8 AS seconds
FROM job LEFT JOIN worker ON worker.id = job.worker_id
WHERE job.state = 'x'

-- name: sweep
-- Removes workers that are gone once no job refers to them, and records of lost workers after a day.
WITH removed_losses AS (DELETE FROM worker_loss WHERE lost_at < statement_timestamp() - interval '1 day')
DELETE FROM worker
WHERE beat_at < statement_timestamp() - {lease(worker)} * 4
  AND NOT EXISTS (SELECT FROM job WHERE job.worker_id = worker.id AND job.state = 'x')

-- name: fold_dead_counts
-- What concurrent statements insert, or another worker has locked, is left for the next time.
WITH folded AS (
  DELETE FROM job_dead_count WHERE ctid = ANY (ARRAY (
    SELECT ctid FROM job_dead_count
    WHERE (queue, kind) IN (SELECT queue, kind FROM job_dead_count GROUP BY queue, kind HAVING count(*) > 1)
    LIMIT 10000 FOR UPDATE SKIP LOCKED))
  RETURNING queue, kind, jobs, attempts, lost)
INSERT INTO job_dead_count (queue, kind, jobs, attempts, lost)
SELECT queue, kind, sum(jobs), sum(attempts), sum(lost) FROM folded GROUP BY queue, kind
HAVING (sum(jobs), sum(attempts), sum(lost)) <> (0, 0, 0)

-- name: doubt_beats
-- A heartbeat from the future was sent before the clock of the server stepped back, or by the clock of the server before a failover.
-- How old it is cannot be known, so it counts as one of now: the next one of a worker that lives replaces it, and the lease of one that
-- does not ends once it is over.
UPDATE worker SET beat_at = clock_timestamp()
WHERE id IN (SELECT id FROM worker WHERE beat_at > clock_timestamp() FOR NO KEY UPDATE SKIP LOCKED)

-- name: doubt_deadlines
-- The same for deadlines, which no attempt passes later than it may last.
UPDATE job SET deadline_at = {deadline}
WHERE id IN (
  SELECT id FROM job WHERE state = 'x' AND deadline_at > {deadline} FOR NO KEY UPDATE SKIP LOCKED)

-- name: doubt_schedules
-- A job that waits, and was submitted later than now, or whose last attempt began later than now, waits for as long from now on as it
-- would have from then on. A pause that ends before then was set by the present clock.
UPDATE job SET
  run_at = CASE WHEN run_at < greatest(created_at, started_at) THEN run_at
    ELSE run_at - (greatest(created_at, started_at) - statement_timestamp()) END,
  created_at = least(created_at, statement_timestamp()), started_at = least(started_at, statement_timestamp())
WHERE id IN (
  SELECT id FROM job WHERE state = 's' AND greatest(created_at, started_at) > statement_timestamp()
  LIMIT 1000 FOR NO KEY UPDATE SKIP LOCKED)

-- name: promote
-- The rank stays that of the submission: a job that an outage has interrupted is claimed before what was submitted since. A condition on
-- clock_timestamp(), which changes while the statement runs, is no condition of an index.
UPDATE job SET state = {due_state(limit_name)}
WHERE id IN (
  SELECT id FROM job WHERE state = 's' AND run_at <= statement_timestamp()
  ORDER BY run_at LIMIT $1::int FOR NO KEY UPDATE SKIP LOCKED)
RETURNING queue

-- name: next_due
-- The seconds until a job is due; NULL: none is scheduled.
SELECT (extract(epoch FROM min(run_at)) - extract(epoch FROM statement_timestamp()))::float8 AS seconds FROM job WHERE state = 's'

-- name: remaining
-- What a claim of fewer jobs than it may take has left: throttled ones, and available ones that another transaction had locked.
SELECT EXISTS (SELECT FROM job WHERE state = 'p' AND queue = $1) AS has_throttled,
  EXISTS (SELECT FROM job WHERE state = 'a' AND queue = $1) AS has_available

-- name: lock_limits
-- Limits that have room and jobs for it. They are locked before their jobs are counted once more: otherwise two concurrent grants
-- could both fill the same room.
SELECT name FROM job_limit
WHERE EXISTS (SELECT FROM job WHERE state = 'p' AND limit_name = job_limit.name) AND {room} > 0
LIMIT 100 FOR UPDATE SKIP LOCKED

-- name: grant
UPDATE job SET state = 'a'
WHERE ctid = ANY (ARRAY (
  SELECT throttled.row_ctid
  FROM job_limit,
    LATERAL (
      SELECT ctid AS row_ctid FROM job
      WHERE state = 'p' AND limit_name = job_limit.name
      ORDER BY rank, id
      LIMIT greatest({room}, 0)
      FOR NO KEY UPDATE SKIP LOCKED) AS throttled
  WHERE job_limit.name = ANY ($1::text[])))
RETURNING id

-- name: drop_shares
-- Fair shares whose next rank has passed have no effect any more.
DELETE FROM job_share WHERE name = ANY (ARRAY (
  SELECT name FROM job_share WHERE next_rank < {microseconds(clock_timestamp())}
  LIMIT 1000 FOR UPDATE SKIP LOCKED))
