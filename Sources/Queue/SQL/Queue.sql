-- name: register
INSERT INTO worker (host, process, lease_seconds) VALUES ($1, $2, $3::float8) RETURNING id

-- name: deregister
-- Jobs that the worker still holds have no worker from now on: the next reap takes them, whatever the lease.
DELETE FROM worker WHERE id = $1

-- name: enqueue
-- Jobs of one fair share get ranks apart from each other, so that other jobs come between them. The delay is at most
-- ten minutes.
WITH time AS MATERIALIZED (
    SELECT at, (extract(epoch FROM at) * 1e6)::bigint AS microseconds
    FROM (SELECT clock_timestamp() + make_interval(secs => $4::float8) AS at) AS time),
  share AS (
    INSERT INTO job_share (name, next_rank)
    SELECT $13, microseconds + ($14::float8 * 1e6)::bigint FROM time WHERE $13::text IS NOT NULL
    ON CONFLICT (name) DO UPDATE SET next_rank = ($14::float8 * 1e6)::bigint
      + (SELECT least(greatest(job_share.next_rank, microseconds), microseconds + 600000000) FROM time)
    RETURNING next_rank - ($14::float8 * 1e6)::bigint AS slot_rank),
  saved_limit AS (
    INSERT INTO job_limit (name, most) SELECT $15, $16::int WHERE $15::text IS NOT NULL
    ON CONFLICT (name) DO UPDATE SET most = excluded.most WHERE job_limit.most <> excluded.most)
INSERT INTO job (public_id, queue, kind, state, rank, run_at, priority, max_attempts, deadline_seconds, unique_key,
                 author, definition, request, arguments, limit_name)
SELECT $1::uuid, $2, $3,
  CASE WHEN at > clock_timestamp() THEN 's' WHEN $15::text IS NOT NULL THEN 'p' ELSE 'a' END::"char",
  greatest(microseconds, (SELECT slot_rank FROM share)) + $5::int * 30000000, at, $5::int, $6::int, $7::int, $12, $8,
  $9, $10, $11::jsonb, $15
FROM time
ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL DO NOTHING
RETURNING id

-- name: now
SELECT (extract(epoch FROM clock_timestamp()) * 1e6)::bigint AS now

-- name: enqueue_many
-- The fastest insertion, for jobs without a unique key, a fair share or a limit.
COPY job (public_id, queue, kind, state, rank, run_at, priority, max_attempts, deadline_seconds, author, definition,
          request, arguments)
FROM STDIN WITH (FORMAT binary)

-- name: notify_many
-- As notify, for several payloads.
SELECT pg_notify($1, about) FROM unnest($2::text[]) AS about
WHERE set_config('synchronous_commit', 'off', true) = 'off'

-- name: notify
-- A notification may be lost: its receivers poll as well. So the commit need not wait for the disk.
SELECT pg_notify($1, $2) WHERE set_config('synchronous_commit', 'off', true) = 'off'

-- name: claim
-- The worker's row is locked: a worker whose row is removed gets no job. Nor does one whose last heartbeat is so old
-- that it would have to stop the job at once. Tokens are derived from the random number of the claim, not from a
-- sequence: after a crash or a failover a sequence can return the same values again. The number also finds the jobs of
-- a lost reply.
WITH live_worker AS MATERIALIZED (
    SELECT id FROM worker
    WHERE id = $1 AND beat_at >= clock_timestamp() - make_interval(secs => lease_seconds * 0.6)
    FOR KEY SHARE),
  chosen AS MATERIALIZED (
    SELECT ctid AS row_ctid FROM job
    WHERE state = 'a' AND queue = $2 AND EXISTS (SELECT FROM live_worker)
    ORDER BY rank, id LIMIT $3::int
    FOR NO KEY UPDATE SKIP LOCKED)
UPDATE job SET
  state = 'x', attempt = job.attempt + 1, worker_id = $1, token = $4::bigint # id,
  started_at = clock_timestamp(), deadline_at = clock_timestamp() + make_interval(secs => job.deadline_seconds + 30)
WHERE ctid = ANY (ARRAY (SELECT row_ctid FROM chosen)) AND state = 'a'
RETURNING id, public_id, token, queue, kind, attempt, max_attempts, lost, author, definition, request,
  deadline_seconds, arguments, limit_name, rank, run_at, clock_timestamp() AS claimed_at,
  extract(epoch FROM clock_timestamp() - postponed_at)::float8 AS postponed

-- name: claimed
-- The jobs of claims whose replies were lost.
SELECT id, public_id, token, queue, kind, attempt, max_attempts, lost, author, definition, request, deadline_seconds,
  arguments, limit_name, rank, run_at, started_at AS claimed_at,
  extract(epoch FROM clock_timestamp() - postponed_at)::float8 AS postponed
FROM job
WHERE worker_id = $1 AND state = 'x' AND token # id = ANY ($2::bigint[])

-- name: heartbeat
-- Returns the leases that the worker has lost, the jobs that are to be cancelled, and whether the worker's row is gone.
-- The commit does not wait for the disk: if a crash loses the new time, the lease only ends earlier.
WITH renewed AS (
  UPDATE worker SET beat_at = clock_timestamp()
  WHERE id = $1 AND set_config('synchronous_commit', 'off', true) = 'off'
  RETURNING id)
SELECT held.token, job.token IS DISTINCT FROM held.token AS lost, job.cancel_at IS NOT NULL AS cancelled,
  NOT EXISTS (SELECT FROM renewed) AS evicted
FROM (SELECT NULL::bigint AS id, NULL::bigint AS token
      UNION ALL SELECT * FROM unnest($2::bigint[], $3::bigint[])) AS held
LEFT JOIN job ON job.id = held.id AND job.state = 'x'
WHERE held.id IS NULL OR job.token IS DISTINCT FROM held.token OR job.cancel_at IS NOT NULL

-- name: complete
WITH ended AS (
    DELETE FROM job WHERE id = $1 AND token = $2
    RETURNING id, public_id, queue, kind, attempt, max_attempts, lost, worker_id, token, author, definition, request,
      created_at, started_at, arguments, last_error),
  removed_progress AS (DELETE FROM job_progress USING ended WHERE job_progress.job_id = ended.id)
INSERT INTO job_done (id, public_id, queue, kind, outcome, attempt, max_attempts, lost, worker_id, token, author,
                      definition, request, created_at, started_at, arguments, result, last_error)
SELECT id, public_id, queue, kind, $3::"char", attempt, max_attempts, lost, worker_id, token, author, definition,
  request, created_at, started_at, arguments, $4::jsonb, last_error
FROM ended
RETURNING id

-- name: retry
-- A job that is to be cancelled gets no further attempt: the guard on cancel_at is the same in bury, release, snooze
-- and postpone.
UPDATE job SET
  state = 's', token = NULL, worker_id = NULL, deadline_at = NULL, last_error = $4,
  run_at = clock_timestamp() + make_interval(secs => $3::float8)
WHERE id = $1 AND token = $2 AND cancel_at IS NULL
RETURNING id

-- name: bury
WITH ended AS (
    DELETE FROM job WHERE id = $1 AND token = $2 AND cancel_at IS NULL
    RETURNING id, public_id, queue, kind, priority, attempt, max_attempts, lost, deadline_seconds, unique_key, author,
      definition, request, created_at, started_at, arguments, limit_name, postponed_at),
  removed_progress AS (DELETE FROM job_progress USING ended WHERE job_progress.job_id = ended.id)
INSERT INTO job_dead (id, public_id, queue, kind, priority, attempt, max_attempts, lost, deadline_seconds, unique_key,
                      author, definition, request, created_at, started_at, arguments, limit_name, postponed_at, last_error)
SELECT id, public_id, queue, kind, priority, attempt, max_attempts, lost, deadline_seconds, unique_key, author,
  definition, request, created_at, started_at, arguments, limit_name, postponed_at, $3
FROM ended
RETURNING id

-- name: release
-- The attempt does not count: a worker that drains returns the job as it was.
UPDATE job SET
  state = CASE WHEN limit_name IS NULL THEN 'a' ELSE 'p' END::"char", token = NULL, worker_id = NULL,
  deadline_at = NULL, attempt = attempt - 1
WHERE id = $1 AND token = $2 AND cancel_at IS NULL
RETURNING id

-- name: snooze
-- The attempt does not count: the job waits for something that is not ready.
UPDATE job SET
  state = 's', token = NULL, worker_id = NULL, deadline_at = NULL, attempt = attempt - 1,
  run_at = clock_timestamp() + make_interval(secs => $3::float8)
WHERE id = $1 AND token = $2 AND cancel_at IS NULL
RETURNING id

-- name: postpone
-- The attempt does not count: something that every job of its kind needs is missing. postponed_at stores since when,
-- so that the pauses can grow.
UPDATE job SET
  state = 's', token = NULL, worker_id = NULL, deadline_at = NULL, attempt = attempt - 1, last_error = $4,
  postponed_at = coalesce(postponed_at, clock_timestamp()),
  run_at = clock_timestamp() + make_interval(secs => $3::float8)
WHERE id = $1 AND token = $2 AND cancel_at IS NULL
RETURNING id

-- name: progress
-- The job's row is locked: a report that comes too late finds no row and inserts nothing.
INSERT INTO job_progress (job_id, token, fraction, stage)
SELECT job.id, job.token, $3::float8, $4 FROM job WHERE job.id = $1 AND job.token = $2 FOR KEY SHARE
ON CONFLICT (job_id) DO UPDATE SET
  token = excluded.token, fraction = excluded.fraction, stage = excluded.stage, at = clock_timestamp()
RETURNING pg_notify($5, $6)

-- name: reap
-- Takes jobs from workers whose lease has expired, and jobs past their deadline. A job is rescheduled; or dead, if it
-- was blamed $1 times or has no attempts left; or cancelled, if that was requested. The state is compared again before
-- each write: a job that ended meanwhile is not changed.
-- A job past its deadline is blamed. A job whose worker was lost is blamed if it was in a stage that can crash a worker
-- ($2), if the worker held no other job and did not deregister, and if no other job was lost within $3 seconds. Without
-- blame the attempt does not count, and the job is rescheduled for up to $4 seconds, with growing pauses.
WITH expired AS MATERIALIZED (
    SELECT job.id, job.token, job.worker_id, job.attempt, job.max_attempts, job.blamed, job.postponed_at,
      job.cancel_at IS NOT NULL AS cancelled, worker.id IS NOT NULL AS is_registered,
      worker.id IS NULL OR worker.beat_at < clock_timestamp() - make_interval(secs => worker.lease_seconds) AS is_lost
    FROM job LEFT JOIN worker ON worker.id = job.worker_id
    WHERE job.state = 'x' AND (
      job.deadline_at < clock_timestamp()
      OR worker.id IS NULL
      OR worker.beat_at < clock_timestamp() - make_interval(secs => worker.lease_seconds))
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
    SELECT judged.*,
      CASE WHEN is_blamed THEN attempt < max_attempts AND blamed + 1 < $1::int
        ELSE postponed_at IS NULL OR postponed_at > clock_timestamp() - make_interval(secs => $4::float8)
      END AS may_return
    FROM judged),
  rescheduled AS (
    UPDATE job SET
      state = 's', token = NULL, worker_id = NULL, deadline_at = NULL, lost = job.lost + 1, last_error = decided.error,
      blamed = job.blamed + is_blamed::int, attempt = job.attempt - (NOT is_blamed)::int,
      postponed_at = CASE WHEN is_blamed THEN job.postponed_at ELSE coalesce(job.postponed_at, clock_timestamp()) END,
      run_at = clock_timestamp() + make_interval(secs => (0.5 + random()) * CASE WHEN is_blamed
        THEN power(4, least(job.lost, 4))
        ELSE least(greatest(1, extract(epoch FROM clock_timestamp() - job.postponed_at)::float8 / 4), 300) END)
    FROM decided
    WHERE job.id = decided.id AND job.state = 'x' AND may_return AND NOT cancelled
    RETURNING job.id, job.public_id, job.kind),
  ended AS (
    DELETE FROM job USING decided
    WHERE job.id = decided.id AND job.state = 'x' AND (cancelled OR NOT may_return)
    RETURNING job.id, job.public_id, job.queue, job.kind, job.priority, job.attempt, job.max_attempts, job.lost + 1 AS lost,
      job.worker_id, job.token, job.deadline_seconds, job.unique_key, job.author, job.definition, job.request,
      job.created_at, job.started_at, job.arguments, job.limit_name, job.postponed_at, decided.error, decided.cancelled),
  removed_progress AS (DELETE FROM job_progress USING ended WHERE job_progress.job_id = ended.id),
  dead AS (
    INSERT INTO job_dead (id, public_id, queue, kind, priority, attempt, max_attempts, lost, deadline_seconds,
                          unique_key, author, definition, request, created_at, started_at, arguments, limit_name,
                          postponed_at, last_error)
    SELECT id, public_id, queue, kind, priority, attempt, max_attempts, lost, deadline_seconds, unique_key, author,
      definition, request, created_at, started_at, arguments, limit_name, postponed_at, error
    FROM ended WHERE NOT cancelled),
  done AS (
    INSERT INTO job_done (id, public_id, queue, kind, outcome, attempt, max_attempts, lost, worker_id, token, author,
                          definition, request, created_at, started_at, arguments, last_error)
    SELECT id, public_id, queue, kind, 'c', attempt, max_attempts, lost, worker_id, token, author, definition, request,
      created_at, started_at, arguments, error
    FROM ended WHERE cancelled)
SELECT id, public_id, kind, 's' AS state FROM rescheduled
UNION ALL SELECT id, public_id, kind, CASE WHEN cancelled THEN 'c' ELSE 'd' END FROM ended

-- name: sweep
-- Removes workers that are gone once no job refers to them, and records of lost workers after a day.
WITH removed_losses AS (DELETE FROM worker_loss WHERE lost_at < clock_timestamp() - interval '1 day')
DELETE FROM worker
WHERE beat_at < clock_timestamp() - make_interval(secs => lease_seconds * 4)
  AND NOT EXISTS (SELECT FROM job WHERE job.worker_id = worker.id AND job.state = 'x')

-- name: promote
UPDATE job SET
  state = CASE WHEN limit_name IS NULL THEN 'a' ELSE 'p' END::"char",
  rank = (extract(epoch FROM run_at) * 1e6)::bigint + priority * 30000000
WHERE id IN (
  SELECT id FROM job WHERE state = 's' AND run_at <= clock_timestamp()
  ORDER BY run_at LIMIT $1::int FOR NO KEY UPDATE SKIP LOCKED)
RETURNING id

-- name: lock_limits
-- Limits are locked before their jobs are counted: otherwise two concurrent grants could both fill the same room.
SELECT name FROM job_limit WHERE EXISTS (SELECT FROM job WHERE state = 'p' AND limit_name = job_limit.name)
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
      LIMIT greatest(job_limit.most - (
        SELECT count(*) FROM job AS active
        WHERE active.limit_name = job_limit.name AND active.state IN ('a', 'x')), 0)
      FOR NO KEY UPDATE SKIP LOCKED) AS throttled
  WHERE job_limit.name = ANY ($1::text[])))
RETURNING id

-- name: drop_shares
-- Fair shares whose next rank has passed have no effect any more.
DELETE FROM job_share WHERE name = ANY (ARRAY (
  SELECT name FROM job_share WHERE next_rank < (extract(epoch FROM clock_timestamp()) * 1e6)::bigint
  LIMIT 1000 FOR UPDATE SKIP LOCKED))

-- name: cron_time
-- The local time of a time zone at $2; NULL: now.
SELECT at, to_char(at AT TIME ZONE $1, 'YYYY-MM-DD HH24:MI') AS local
FROM (SELECT coalesce($2::timestamptz, clock_timestamp()) AS at) AS time

-- name: cron_instants
-- The server knows the changes of a zone's offset: a local time that a change skips is moved forward by the change, and
-- of a local time that occurs twice it takes one.
SELECT DISTINCT local AT TIME ZONE $2 AS at FROM unnest($1::timestamp[]) AS local
WHERE local AT TIME ZONE $2 > $3::timestamptz
ORDER BY at LIMIT $4::int

-- name: cron_has_zone
SELECT FROM pg_timezone_names WHERE name = $1

-- name: cron_set
-- An entry that is set again with the same schedule and zone keeps next_at: a program that sets its entries at every
-- start does not postpone them.
INSERT INTO cron_entry (name, schedule, zone, queue, kind, arguments, deadline_seconds, next_at)
VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7::int, $8::timestamptz)
ON CONFLICT (name) DO UPDATE SET
  schedule = excluded.schedule, zone = excluded.zone, queue = excluded.queue, kind = excluded.kind,
  arguments = excluded.arguments, deadline_seconds = excluded.deadline_seconds,
  next_at = CASE WHEN (cron_entry.schedule, cron_entry.zone) = (excluded.schedule, excluded.zone)
    THEN cron_entry.next_at ELSE excluded.next_at END

-- name: cron_remove
DELETE FROM cron_entry WHERE name = $1 RETURNING name

-- name: cron_pause
UPDATE cron_entry SET is_paused = true WHERE name = $1 RETURNING name

-- name: cron_resume
-- The times that passed during the pause are skipped; an entry that is not paused does not change.
UPDATE cron_entry SET is_paused = false, next_at = CASE WHEN is_paused THEN $2::timestamptz ELSE next_at END
WHERE name = $1
RETURNING name

-- name: cron_entries
SELECT name, schedule, zone, queue, kind, arguments, deadline_seconds, is_paused, last_at, next_at FROM cron_entry
ORDER BY name

-- name: cron_entry
SELECT name, schedule, zone, queue, kind, arguments, deadline_seconds, is_paused, last_at, next_at FROM cron_entry
WHERE name = $1

-- name: cron_due
SELECT name, schedule, zone, queue, kind, arguments, deadline_seconds, is_paused, last_at, next_at FROM cron_entry
WHERE NOT is_paused AND next_at <= clock_timestamp()
ORDER BY next_at LIMIT 100

-- name: cron_advance
-- Compare and set: of several workers that fire an entry at once, one gets the due time, and with it the unique key of
-- the job.
UPDATE cron_entry SET last_at = next_at, next_at = $3::timestamptz
WHERE name = $1 AND next_at = $2::timestamptz AND NOT is_paused
RETURNING sha256(convert_to(name, 'UTF8') || '\x00'::bytea || timestamptz_send(last_at)) AS unique_key

-- name: cron_next_of_kind
SELECT min(next_at) AS at FROM cron_entry WHERE kind = $1 AND NOT is_paused

-- name: hold
-- Locks jobs until the transaction ends, in the order of their ids, so that two transactions cannot deadlock.
SELECT FROM job WHERE public_id = ANY ($1::uuid[]) ORDER BY public_id FOR UPDATE

-- name: cancel_waiting
WITH ended AS (
    DELETE FROM job WHERE public_id = ANY ($1::uuid[]) AND state <> 'x'
    RETURNING id, public_id, queue, kind, attempt, max_attempts, lost, author, definition, request, created_at,
      started_at, arguments, last_error),
  removed_progress AS (DELETE FROM job_progress USING ended WHERE job_progress.job_id = ended.id)
INSERT INTO job_done (id, public_id, queue, kind, outcome, attempt, max_attempts, lost, author, definition, request,
                      created_at, started_at, arguments, last_error)
SELECT id, public_id, queue, kind, 'c', attempt, max_attempts, lost, author, definition, request, created_at,
  started_at, arguments, last_error
FROM ended
RETURNING public_id

-- name: cancel_executing
-- The worker learns of it from the reply to its next heartbeat.
UPDATE job SET cancel_at = coalesce(cancel_at, clock_timestamp())
WHERE public_id = ANY ($1::uuid[]) AND state = 'x'
RETURNING public_id

-- name: revivable
-- Jobs that died less than $1 seconds after another job was lost with its worker, or earlier: the cause may lie outside
-- the job. Each may be redriven for $2 seconds after its first failure, with growing pauses of at least $3 seconds.
SELECT public_id FROM job_dead
WHERE coalesce(postponed_at, died_at) > clock_timestamp() - make_interval(secs => $2::float8)
  AND died_at < clock_timestamp()
    - greatest(make_interval(secs => $3::float8), (died_at - coalesce(postponed_at, died_at)) / 2)
  AND EXISTS (
    SELECT FROM worker_loss
    WHERE job_id IS DISTINCT FROM job_dead.id AND lost_at > job_dead.died_at - make_interval(secs => $1::float8))
ORDER BY died_at LIMIT 100
FOR UPDATE SKIP LOCKED

-- name: redrive
-- A dead job stays dead if a live job has its unique key; of several dead jobs with one key the first is redriven. A
-- job that is revived automatically ($2) keeps lost and postponed_at; one that an operator retries starts without them.
WITH redriven AS (
  DELETE FROM job_dead
  WHERE public_id = ANY ($1::uuid[])
    AND (unique_key IS NULL
      OR NOT EXISTS (SELECT FROM job WHERE job.unique_key = job_dead.unique_key)
        AND NOT EXISTS (
          SELECT FROM job_dead AS other
          WHERE other.public_id = ANY ($1::uuid[]) AND other.unique_key = job_dead.unique_key
            AND other.id < job_dead.id))
  RETURNING id, public_id, queue, kind, priority, max_attempts, deadline_seconds, unique_key, author, definition,
    request, created_at, arguments, last_error, limit_name, CASE WHEN $2::boolean THEN lost ELSE 0 END AS lost,
    CASE WHEN $2::boolean THEN coalesce(postponed_at, died_at) END AS postponed_at)
INSERT INTO job (id, public_id, queue, kind, state, rank, priority, max_attempts, deadline_seconds, unique_key, author,
                 definition, request, created_at, arguments, last_error, limit_name, lost, postponed_at)
OVERRIDING SYSTEM VALUE
SELECT id, public_id, queue, kind, CASE WHEN limit_name IS NULL THEN 'a' ELSE 'p' END::"char",
  (extract(epoch FROM clock_timestamp()) * 1e6)::bigint + priority * 30000000,
  priority, max_attempts, deadline_seconds, unique_key, author, definition, request, created_at, arguments, last_error,
  limit_name, lost, postponed_at
FROM redriven ORDER BY public_id
RETURNING public_id, queue

-- name: retry_now
-- Makes a scheduled job available now.
UPDATE job SET
  state = CASE WHEN limit_name IS NULL THEN 'a' ELSE 'p' END::"char", run_at = clock_timestamp(),
  rank = (extract(epoch FROM clock_timestamp()) * 1e6)::bigint + priority * 30000000
WHERE public_id = ANY ($1::uuid[]) AND state = 's'
RETURNING public_id, queue

-- name: lock_history
SELECT pg_advisory_xact_lock(hashtextextended('take5.job_done', 0))

-- name: missing_days
-- The days without a partition, of today and the next seven, in UTC; a day whose rows are in the default partition is
-- left out.
SELECT ahead, name, to_char(day, 'YYYY-MM-DD') || ' 00:00:00+00' AS first,
  to_char(day + interval '1 day', 'YYYY-MM-DD') || ' 00:00:00+00' AS next
FROM (
  SELECT ahead::int, day, 'job_done_' || to_char(day, 'YYYYMMDD') AS name
  FROM generate_series(0, 7) AS ahead,
    LATERAL (SELECT date_trunc('day', clock_timestamp() AT TIME ZONE 'UTC') + make_interval(days => ahead) AS day) AS at
) AS days
WHERE to_regclass(name) IS NULL
  AND NOT EXISTS (
    SELECT FROM job_done_rest
    WHERE finished_at >= day AT TIME ZONE 'UTC' AND finished_at < (day + interval '1 day') AT TIME ZONE 'UTC')

-- name: expired_days
SELECT relname AS name FROM pg_inherits JOIN pg_class ON pg_class.oid = inhrelid
WHERE inhparent = 'job_done'::regclass AND relname ~ '^job_done_[0-9]{8}$'
  AND right(relname, 8) < to_char(clock_timestamp() AT TIME ZONE 'UTC' - make_interval(days => $1::int), 'YYYYMMDD')

-- name: drop_rest
-- Rows in the default partition are deleted one by one.
DELETE FROM job_done_rest WHERE finished_at < clock_timestamp() - make_interval(days => $1::int + 1)
