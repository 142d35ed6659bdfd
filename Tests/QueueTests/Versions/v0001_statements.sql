-- The statements of a worker that knows only the first version of the schema, as they were: never to be changed.

-- name: register
INSERT INTO worker (host, process, lease_seconds) VALUES ($1, $2, $3::float8) RETURNING id

-- name: deregister
-- A worker's row outlives its jobs: their leases are judged by it.
DELETE FROM worker WHERE id = $1 AND NOT EXISTS (SELECT FROM job WHERE worker_id = $1 AND state = 'x')

-- name: enqueue
INSERT INTO job (public_id, queue, kind, state, rank, run_at, priority, max_attempts, deadline_seconds, unique_key,
                 author, definition, request, arguments)
SELECT $1::uuid, $2, $3, CASE WHEN at > clock_timestamp() THEN 's' ELSE 'a' END::"char",
       (extract(epoch FROM at) * 1e6)::bigint + $5::int * 30000000, at, $5::int, $6::int, $7::int, $8, $9, $10, $11,
       $12::jsonb
FROM (SELECT clock_timestamp() + make_interval(secs => $4::float8) AS at) AS time
ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL DO NOTHING
RETURNING id

-- name: claim
-- The worker's row is locked: one that was swept away gets nothing. Nor does one whose last sign of life is so old that
-- it would have to stop the job at once.
WITH me AS (
    SELECT id FROM worker
    WHERE id = $1 AND beat_at >= clock_timestamp() - make_interval(secs => lease_seconds * 0.6)
    FOR KEY SHARE),
  chosen AS MATERIALIZED (
    SELECT id FROM job
    WHERE state = 'a' AND queue = $2 AND EXISTS (SELECT FROM me)
    ORDER BY rank, id LIMIT $3::int
    FOR NO KEY UPDATE SKIP LOCKED)
UPDATE job SET
  state = 'x', attempt = job.attempt + 1, worker_id = $1, token = nextval('job_token'),
  started_at = clock_timestamp(), deadline_at = clock_timestamp() + make_interval(secs => job.deadline_seconds + 30)
FROM chosen
WHERE job.id = chosen.id
RETURNING job.id, job.public_id, job.token, job.queue, job.kind, job.attempt, job.max_attempts, job.lost, job.author,
  job.definition, job.request, job.deadline_seconds, job.arguments

-- name: beat
-- Answers what the worker must know: leases it has lost, jobs to be cancelled, and whether it was swept away.
WITH me AS (UPDATE worker SET beat_at = clock_timestamp() WHERE id = $1 RETURNING id)
SELECT mine.id, job.token IS DISTINCT FROM mine.token AS lost, job.cancel_at IS NOT NULL AS cancelled,
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
      definition, request, created_at, started_at, arguments),
  forgotten AS (DELETE FROM job_progress USING ended WHERE job_progress.job_id = ended.id)
INSERT INTO job_dead (id, public_id, queue, kind, priority, attempt, max_attempts, lost, deadline_seconds, unique_key,
                      author, definition, request, created_at, started_at, arguments, last_error)
SELECT id, public_id, queue, kind, priority, attempt, max_attempts, lost, deadline_seconds, unique_key, author,
  definition, request, created_at, started_at, arguments, $3
FROM ended
RETURNING id

-- name: release
-- The attempt was not used up: a worker that drains gives the job back as it was.
UPDATE job SET
  state = 'a', token = NULL, worker_id = NULL, deadline_at = NULL, attempt = attempt - 1
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
-- Jobs of workers without a sign of life within their own lease, and jobs past their deadline: back to the queue, or dead once they were lost
-- too often or have no attempt left, or cancelled if that was asked for. Guarded by the state: nothing that ended
-- meanwhile is touched.
WITH victims AS (
    SELECT job.id, job.attempt < job.max_attempts AND job.lost + 1 < $1::int AS may_return,
      job.cancel_at IS NOT NULL AS cancelled,
      CASE WHEN job.deadline_at < clock_timestamp() THEN 'the deadline passed' ELSE 'the worker was lost' END AS error
    FROM job
    WHERE job.state = 'x' AND (
      job.deadline_at < clock_timestamp()
      OR NOT EXISTS (
        SELECT FROM worker
        WHERE worker.id = job.worker_id
          AND worker.beat_at >= clock_timestamp() - make_interval(secs => worker.lease_seconds)))
    LIMIT 500
    FOR NO KEY UPDATE OF job SKIP LOCKED),
  returned AS (
    UPDATE job SET
      state = 's', token = NULL, worker_id = NULL, deadline_at = NULL, lost = job.lost + 1, last_error = victims.error,
      run_at = clock_timestamp() + make_interval(secs => (0.5 + random()) * power(2, least(job.lost, 8)))
    FROM victims
    WHERE job.id = victims.id AND job.state = 'x' AND victims.may_return AND NOT victims.cancelled
    RETURNING job.id, job.public_id),
  ended AS (
    DELETE FROM job USING victims
    WHERE job.id = victims.id AND job.state = 'x' AND (victims.cancelled OR NOT victims.may_return)
    RETURNING job.id, job.public_id, job.queue, job.kind, job.priority, job.attempt, job.max_attempts, job.lost + 1 AS lost,
      job.worker_id, job.token, job.deadline_seconds, job.unique_key, job.author, job.definition, job.request,
      job.created_at, job.started_at, job.arguments, victims.error, victims.cancelled),
  forgotten AS (DELETE FROM job_progress USING ended WHERE job_progress.job_id = ended.id),
  dead AS (
    INSERT INTO job_dead (id, public_id, queue, kind, priority, attempt, max_attempts, lost, deadline_seconds,
                          unique_key, author, definition, request, created_at, started_at, arguments, last_error)
    SELECT id, public_id, queue, kind, priority, attempt, max_attempts, lost, deadline_seconds, unique_key, author,
      definition, request, created_at, started_at, arguments, error
    FROM ended WHERE NOT cancelled),
  done AS (
    INSERT INTO job_done (id, public_id, queue, kind, outcome, attempt, max_attempts, lost, worker_id, token, author,
                          definition, request, created_at, started_at, arguments, last_error)
    SELECT id, public_id, queue, kind, 'c', attempt, max_attempts, lost, worker_id, token, author, definition, request,
      created_at, started_at, arguments, error
    FROM ended WHERE cancelled)
SELECT id, public_id, 's' AS state FROM returned
UNION ALL SELECT id, public_id, CASE WHEN cancelled THEN 'c' ELSE 'd' END FROM ended

-- name: sweep
-- A worker's row goes once nothing depends on it any more.
DELETE FROM worker
WHERE beat_at < clock_timestamp() - make_interval(secs => lease_seconds * 4)
  AND NOT EXISTS (SELECT FROM job WHERE job.worker_id = worker.id AND job.state = 'x')

-- name: promote
UPDATE job SET state = 'a', rank = (extract(epoch FROM run_at) * 1e6)::bigint + priority * 30000000
WHERE id IN (
  SELECT id FROM job WHERE state = 's' AND run_at <= clock_timestamp()
  ORDER BY run_at LIMIT $1::int FOR NO KEY UPDATE SKIP LOCKED)
RETURNING id

-- name: find
SELECT * FROM (
  SELECT job.id, job.public_id, job.queue, job.kind,
    CASE job.state WHEN 'a' THEN 'available' WHEN 's' THEN 'scheduled' ELSE 'executing' END AS state,
    job.attempt, job.max_attempts, job.lost, job.author, job.request, job.created_at, job.run_at, job.started_at,
    NULL::timestamptz AS finished_at, job.last_error, job.arguments, NULL::jsonb AS result,
    job_progress.fraction, job_progress.stage
  FROM job LEFT JOIN job_progress ON job_progress.job_id = job.id
  WHERE job.public_id = ANY ($1::uuid[])
  UNION ALL
  SELECT id, public_id, queue, kind, CASE outcome WHEN 'c' THEN 'cancelled' ELSE 'completed' END, attempt,
    max_attempts, lost, author, request, created_at, NULL, started_at, finished_at, last_error, arguments, result, NULL,
    NULL
  FROM job_done WHERE public_id = ANY ($1::uuid[])
  UNION ALL
  SELECT id, public_id, queue, kind, 'dead', attempt, max_attempts, lost, author, request, created_at, NULL,
    started_at, died_at, last_error, arguments, NULL, NULL, NULL
  FROM job_dead WHERE public_id = ANY ($1::uuid[])
) AS found
