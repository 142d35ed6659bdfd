-- name: register
INSERT INTO worker (host, process, lease_seconds) VALUES ($1, $2, $3::float8) RETURNING id

-- name: deregister
-- A worker that ended works on nothing: what it still holds is without a worker from now on, and reaped at once.
DELETE FROM worker WHERE id = $1

-- name: enqueue
-- Who submits much at once is ranked one turn after the other, so that others come in between; no more than ten minutes.
WITH time AS MATERIALIZED (
    SELECT at, (extract(epoch FROM at) * 1e6)::bigint AS microseconds
    FROM (SELECT clock_timestamp() + make_interval(secs => $4::float8) AS at) AS time),
  share AS (
    INSERT INTO job_share (name, next_rank)
    SELECT $13, microseconds + ($14::float8 * 1e6)::bigint FROM time WHERE $13::text IS NOT NULL
    ON CONFLICT (name) DO UPDATE SET next_rank = ($14::float8 * 1e6)::bigint
      + (SELECT least(greatest(job_share.next_rank, microseconds), microseconds + 600000000) FROM time)
    RETURNING next_rank - ($14::float8 * 1e6)::bigint AS turn),
  bounded AS (
    INSERT INTO job_limit (name, most) SELECT $15, $16::int WHERE $15::text IS NOT NULL
    ON CONFLICT (name) DO UPDATE SET most = excluded.most WHERE job_limit.most <> excluded.most)
INSERT INTO job (public_id, queue, kind, state, rank, run_at, priority, max_attempts, deadline_seconds, unique_key,
                 author, definition, request, arguments, limit_name)
SELECT $1::uuid, $2, $3,
  CASE WHEN at > clock_timestamp() THEN 's' WHEN $15::text IS NOT NULL THEN 'p' ELSE 'a' END::"char",
  greatest(microseconds, (SELECT turn FROM share)) + $5::int * 30000000, at, $5::int, $6::int, $7::int, $12, $8, $9,
  $10, $11::jsonb, $15
FROM time
ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL DO NOTHING
RETURNING id

-- name: now
SELECT (extract(epoch FROM clock_timestamp()) * 1e6)::bigint AS now

-- name: enqueue_many
-- The fastest way in, for jobs without a key, a share or a limit.
COPY job (public_id, queue, kind, state, rank, run_at, priority, max_attempts, deadline_seconds, author, definition,
          request, arguments)
FROM STDIN WITH (FORMAT binary)

-- name: notify_many
-- Of each of them, as announce says of one.
SELECT pg_notify($1, about) FROM unnest($2::text[]) AS about
WHERE set_config('synchronous_commit', 'off', true) = 'off'

-- name: notify
-- Nothing is lost with it: whoever does not hear it looks by himself. So its commit need not wait for the disk.
SELECT pg_notify($1, $2) WHERE set_config('synchronous_commit', 'off', true) = 'off'

-- name: claim
-- The worker's row is locked: one that was swept away gets nothing. Nor does one whose last sign of life is so old that
-- it would have to stop the job at once. Tokens come from a random number of the worker's, never from a counter: one that
-- a crash or a failover sets back would give out the same again. And who asked can look up what an unheard answer gave.
WITH me AS MATERIALIZED (
    SELECT id FROM worker
    WHERE id = $1 AND beat_at >= clock_timestamp() - make_interval(secs => lease_seconds * 0.6)
    FOR KEY SHARE),
  chosen AS MATERIALIZED (
    SELECT ctid AS place FROM job
    WHERE state = 'a' AND queue = $2 AND EXISTS (SELECT FROM me)
    ORDER BY rank, id LIMIT $3::int
    FOR NO KEY UPDATE SKIP LOCKED)
UPDATE job SET
  state = 'x', attempt = job.attempt + 1, worker_id = $1, token = $4::bigint # id,
  started_at = clock_timestamp(), deadline_at = clock_timestamp() + make_interval(secs => job.deadline_seconds + 30)
WHERE ctid = ANY (ARRAY (SELECT place FROM chosen)) AND state = 'a'
RETURNING id, public_id, token, queue, kind, attempt, max_attempts, lost, author, definition, request,
  deadline_seconds, arguments, limit_name, rank, run_at, clock_timestamp() AS claimed_at,
  extract(epoch FROM clock_timestamp() - postponed_at)::float8 AS postponed

-- name: claimed
-- What claims gave whose answers were never heard.
SELECT id, public_id, token, queue, kind, attempt, max_attempts, lost, author, definition, request, deadline_seconds,
  arguments, limit_name, rank, run_at, started_at AS claimed_at,
  extract(epoch FROM clock_timestamp() - postponed_at)::float8 AS postponed
FROM job
WHERE worker_id = $1 AND state = 'x' AND token # id = ANY ($2::bigint[])

-- name: heartbeat
-- Answers what the worker must know: leases it has lost, jobs to be cancelled, and whether it was swept away.
-- The time that it writes is as old as the question, never newer: if a crash forgets it, the lease only ends earlier.
WITH me AS (
  UPDATE worker SET beat_at = clock_timestamp()
  WHERE id = $1 AND set_config('synchronous_commit', 'off', true) = 'off'
  RETURNING id)
SELECT mine.token, job.token IS DISTINCT FROM mine.token AS lost, job.cancel_at IS NOT NULL AS cancelled,
  NOT EXISTS (SELECT FROM me) AS evicted
FROM (SELECT NULL::bigint AS id, NULL::bigint AS token
      UNION ALL SELECT * FROM unnest($2::bigint[], $3::bigint[])) AS mine
LEFT JOIN job ON job.id = mine.id AND job.state = 'x'
WHERE mine.id IS NULL OR job.token IS DISTINCT FROM mine.token OR job.cancel_at IS NOT NULL

-- name: complete
WITH ended AS (
    DELETE FROM job WHERE id = $1 AND token = $2
    RETURNING id, public_id, queue, kind, attempt, max_attempts, lost, worker_id, token, author, definition, request,
      created_at, started_at, arguments, last_error),
  forgotten AS (DELETE FROM job_progress USING ended WHERE job_progress.job_id = ended.id)
INSERT INTO job_done (id, public_id, queue, kind, outcome, attempt, max_attempts, lost, worker_id, token, author,
                      definition, request, created_at, started_at, arguments, result, last_error)
SELECT id, public_id, queue, kind, $3::"char", attempt, max_attempts, lost, worker_id, token, author, definition,
  request, created_at, started_at, arguments, $4::jsonb, last_error
FROM ended
RETURNING id

-- name: retry
-- A job that is to be cancelled gets no further attempt: here as in bury and release.
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
  forgotten AS (DELETE FROM job_progress USING ended WHERE job_progress.job_id = ended.id)
INSERT INTO job_dead (id, public_id, queue, kind, priority, attempt, max_attempts, lost, deadline_seconds, unique_key,
                      author, definition, request, created_at, started_at, arguments, limit_name, postponed_at, last_error)
SELECT id, public_id, queue, kind, priority, attempt, max_attempts, lost, deadline_seconds, unique_key, author,
  definition, request, created_at, started_at, arguments, limit_name, postponed_at, $3
FROM ended
RETURNING id

-- name: release
-- The attempt was not used up: a worker that drains gives the job back as it was.
UPDATE job SET
  state = CASE WHEN limit_name IS NULL THEN 'a' ELSE 'p' END::"char", token = NULL, worker_id = NULL,
  deadline_at = NULL, attempt = attempt - 1
WHERE id = $1 AND token = $2 AND cancel_at IS NULL
RETURNING id

-- name: snooze
-- Later, and not counted: what the job waits for is not there yet.
UPDATE job SET
  state = 's', token = NULL, worker_id = NULL, deadline_at = NULL, attempt = attempt - 1,
  run_at = clock_timestamp() + make_interval(secs => $3::float8)
WHERE id = $1 AND token = $2 AND cancel_at IS NULL
RETURNING id

-- name: postpone
-- Later, and not counted: what every job of its kind needs is not to be had. Since when is kept, for pauses that grow.
UPDATE job SET
  state = 's', token = NULL, worker_id = NULL, deadline_at = NULL, attempt = attempt - 1, last_error = $4,
  postponed_at = coalesce(postponed_at, clock_timestamp()),
  run_at = clock_timestamp() + make_interval(secs => $3::float8)
WHERE id = $1 AND token = $2 AND cancel_at IS NULL
RETURNING id

-- name: progress
-- The job is locked: a report that comes too late finds it gone and leaves nothing.
INSERT INTO job_progress (job_id, token, fraction, stage)
SELECT job.id, job.token, $3::float8, $4 FROM job WHERE job.id = $1 AND job.token = $2 FOR KEY SHARE
ON CONFLICT (job_id) DO UPDATE SET
  token = excluded.token, fraction = excluded.fraction, stage = excluded.stage, at = clock_timestamp()
RETURNING pg_notify($5, $6)

-- name: reap
-- Jobs of workers without a sign of life within their own lease, and jobs past their deadline: back to the queue, or
-- dead once they take the blame too often or have no attempt left, or cancelled if that was asked for. Guarded by the
-- state: nothing that ended meanwhile is touched.
-- A job past its deadline takes the blame. One that was lost with its worker does so if it was in a stage that can break a
-- worker ($2), if the worker had no other job and did not say goodbye, and if no other job was lost within $3 seconds.
-- Without blame the attempt does not count, and the job comes back for a day ($4), after pauses that grow.
WITH victims AS MATERIALIZED (
    SELECT job.id, job.token, job.worker_id, job.attempt, job.max_attempts, job.blamed, job.postponed_at,
      job.cancel_at IS NOT NULL AS cancelled, worker.id IS NOT NULL AS is_silent,
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
    FROM victims WHERE is_lost AND worker_id IS NOT NULL GROUP BY worker_id),
  noted AS (
    INSERT INTO worker_loss (worker_id, job_id) SELECT worker_id, job_id FROM lost_workers
    ON CONFLICT (worker_id) DO UPDATE SET job_id = NULL WHERE worker_loss.job_id IS DISTINCT FROM excluded.job_id),
  judged AS MATERIALIZED (
    SELECT victims.*,
      CASE WHEN is_lost THEN 'the worker was lost' ELSE 'the deadline passed' END AS error,
      NOT is_lost OR (
        is_silent
        AND EXISTS (SELECT FROM lost_workers WHERE lost_workers.worker_id = victims.worker_id AND job_id = victims.id)
        AND EXISTS (
          SELECT FROM job_progress
          WHERE job_id = victims.id AND job_progress.token = victims.token AND stage = ANY ($2::text[]))
        AND NOT EXISTS (SELECT FROM lost_workers WHERE lost_workers.worker_id <> victims.worker_id)
        AND NOT EXISTS (
          SELECT FROM job AS other
          WHERE other.worker_id = victims.worker_id AND other.state = 'x' AND other.id <> victims.id)
        AND NOT EXISTS (
          SELECT FROM worker_loss
          WHERE lost_at > clock_timestamp() - make_interval(secs => $3::float8)
            AND job_id IS DISTINCT FROM victims.id)) AS is_blamed
    FROM victims),
  decided AS MATERIALIZED (
    SELECT judged.*,
      CASE WHEN is_blamed THEN attempt < max_attempts AND blamed + 1 < $1::int
        ELSE postponed_at IS NULL OR postponed_at > clock_timestamp() - make_interval(secs => $4::float8)
      END AS may_return
    FROM judged),
  returned AS (
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
  forgotten AS (DELETE FROM job_progress USING ended WHERE job_progress.job_id = ended.id),
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
SELECT id, public_id, kind, 's' AS state FROM returned
UNION ALL SELECT id, public_id, kind, CASE WHEN cancelled THEN 'c' ELSE 'd' END FROM ended

-- name: sweep
-- A worker's row goes once nothing depends on it any more, and what is known of lost ones after a day.
WITH forgotten AS (DELETE FROM worker_loss WHERE lost_at < clock_timestamp() - interval '1 day')
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
-- Locked before they are counted: two who grant at once would each fill the same room.
SELECT name FROM job_limit WHERE EXISTS (SELECT FROM job WHERE state = 'p' AND limit_name = job_limit.name)
LIMIT 100 FOR UPDATE SKIP LOCKED

-- name: grant
UPDATE job SET state = 'a'
WHERE ctid = ANY (ARRAY (
  SELECT parked.place
  FROM job_limit,
    LATERAL (
      SELECT ctid AS place FROM job
      WHERE state = 'p' AND limit_name = job_limit.name
      ORDER BY rank, id
      LIMIT greatest(job_limit.most - (
        SELECT count(*) FROM job AS busy WHERE busy.limit_name = job_limit.name AND busy.state IN ('a', 'x')), 0)
      FOR NO KEY UPDATE SKIP LOCKED) AS parked
  WHERE job_limit.name = ANY ($1::text[])))
RETURNING id

-- name: drop_shares
-- A turn that has passed says nothing any more.
DELETE FROM job_share WHERE name = ANY (ARRAY (
  SELECT name FROM job_share WHERE next_rank < (extract(epoch FROM clock_timestamp()) * 1e6)::bigint
  LIMIT 1000 FOR UPDATE SKIP LOCKED))

-- name: cron_time
-- What the clock on the wall of a zone says; now, unless another time is asked for.
SELECT at, to_char(at AT TIME ZONE $1, 'YYYY-MM-DD HH24:MI') AS local
FROM (SELECT coalesce($2::timestamptz, clock_timestamp()) AS at) AS time

-- name: cron_instants
-- The server knows when a zone's clocks are changed: a time that they leave out comes as much later as they jump, and of
-- a time that comes twice it takes one.
SELECT DISTINCT local AT TIME ZONE $2 AS at FROM unnest($1::timestamp[]) AS local
WHERE local AT TIME ZONE $2 > $3::timestamptz
ORDER BY at LIMIT $4::int

-- name: cron_has_zone
SELECT FROM pg_timezone_names WHERE name = $1

-- name: cron_set
-- An entry that is set again as it was keeps its time: who sets it with every start does not put it off.
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
-- What would have come while it was paused is over; one that is not paused goes on as it was.
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
-- Compared and set: of those who fire at once, one gets the time that was due, and with it the job's key.
UPDATE cron_entry SET last_at = next_at, next_at = $3::timestamptz
WHERE name = $1 AND next_at = $2::timestamptz AND NOT is_paused
RETURNING sha256(convert_to(name, 'UTF8') || '\x00'::bytea || timestamptz_send(last_at)) AS unique_key

-- name: cron_next_of_kind
SELECT min(next_at) AS at FROM cron_entry WHERE kind = $1 AND NOT is_paused

-- name: hold
-- Keeps jobs from changing their states until the transaction ends; all who hold several do so in one order.
SELECT FROM job WHERE public_id = ANY ($1::uuid[]) ORDER BY public_id FOR UPDATE

-- name: cancel_waiting
WITH ended AS (
    DELETE FROM job WHERE public_id = ANY ($1::uuid[]) AND state <> 'x'
    RETURNING id, public_id, queue, kind, attempt, max_attempts, lost, author, definition, request, created_at,
      started_at, arguments, last_error),
  forgotten AS (DELETE FROM job_progress USING ended WHERE job_progress.job_id = ended.id)
INSERT INTO job_done (id, public_id, queue, kind, outcome, attempt, max_attempts, lost, author, definition, request,
                      created_at, started_at, arguments, last_error)
SELECT id, public_id, queue, kind, 'c', attempt, max_attempts, lost, author, definition, request, created_at,
  started_at, arguments, last_error
FROM ended
RETURNING public_id

-- name: cancel_executing
-- The worker hears of it with its next beat.
UPDATE job SET cancel_at = coalesce(cancel_at, clock_timestamp())
WHERE public_id = ANY ($1::uuid[]) AND state = 'x'
RETURNING public_id

-- name: revivable
-- Jobs that died while others were lost with their workers: the fleet was unwell, and nobody knows what they died of. Each
-- comes back for a day ($2), after pauses that grow.
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
-- One whose key another job has by now stays where it is, and so do all but the first of those that share a key. A job that
-- comes back by itself ($2) keeps since when; who asks for it lets it begin anew.
WITH back AS (
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
FROM back ORDER BY public_id
RETURNING public_id, queue

-- name: retry_now
-- A job that waits for its next attempt is tried at once.
UPDATE job SET
  state = CASE WHEN limit_name IS NULL THEN 'a' ELSE 'p' END::"char", run_at = clock_timestamp(),
  rank = (extract(epoch FROM clock_timestamp()) * 1e6)::bigint + priority * 30000000
WHERE public_id = ANY ($1::uuid[]) AND state = 's'
RETURNING public_id, queue

-- name: lock_history
SELECT pg_advisory_xact_lock(hashtextextended('take5.job_done', 0))

-- name: missing_days
-- The days for which history needs a partition: today and seven to come, in UTC.
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
-- What lies outside the days has to go row by row.
DELETE FROM job_done_rest WHERE finished_at < clock_timestamp() - make_interval(days => $1::int + 1)
