-- Queries of operators and clients. A list is a UNION ALL of one branch for each table, so that each branch uses an index of its table.

-- name: count(branches)
SELECT count(*) AS jobs FROM ({branches}) AS found

-- name: jobs(branches, order)
SELECT found.*, job_progress.fraction, job_progress.stage, worker.host AS worker_host,
  worker.process AS worker_process
FROM ({branches}) AS found
  LEFT JOIN job_progress ON job_progress.job_id = found.id AND found.finished_at IS NULL
  LEFT JOIN worker ON worker.id = found.worker_id
{order}

-- name: live(conditions)
SELECT {record_columns}, lost, last_error,
  CASE state WHEN 'a' THEN 'available' WHEN 'x' THEN 'executing' ELSE 'scheduled' END AS state,
  priority, run_at, deadline_at, NULL::timestamptz AS finished_at, cancel_at IS NOT NULL AS is_cancelling,
  state = 'p' AS is_throttled, worker_id, limit_name, NULL::jsonb AS result, false AS is_rejected
FROM job WHERE {conditions}

-- name: done(conditions)
SELECT {record_columns}, lost, last_error, CASE outcome WHEN 'c' THEN 'cancelled' ELSE 'completed' END AS state,
  NULL::smallint AS priority, NULL::timestamptz AS run_at, NULL::timestamptz AS deadline_at, finished_at,
  false AS is_cancelling, false AS is_throttled, worker_id, NULL::text AS limit_name, result,
  outcome = 'r' AS is_rejected
FROM job_done WHERE {conditions}

-- name: dead(conditions)
SELECT {record_columns}, lost, last_error, 'dead' AS state, priority, NULL::timestamptz AS run_at,
  NULL::timestamptz AS deadline_at, died_at AS finished_at, false AS is_cancelling, false AS is_throttled,
  NULL::bigint AS worker_id, limit_name, NULL::jsonb AS result, false AS is_rejected
FROM job_dead WHERE {conditions}

-- name: depths
SELECT queue, kind, CASE state WHEN 'a' THEN 'available' WHEN 'x' THEN 'executing' ELSE 'scheduled' END AS state,
  count(*) AS jobs, greatest(extract(epoch FROM clock_timestamp() - min(run_at)), 0)::float8 AS oldest,
  sum(attempt)::bigint AS attempts, sum(lost)::bigint AS lost
FROM job GROUP BY 1, 2, 3
UNION ALL
SELECT queue, kind, 'dead', jobs, coalesce(extract(epoch FROM clock_timestamp() - (
    SELECT min(died_at) FROM job_dead WHERE job_dead.queue = dead.queue AND job_dead.kind = dead.kind)), 0)::float8,
  attempts, lost
FROM (
  SELECT queue, kind, sum(jobs)::bigint AS jobs, sum(attempts)::bigint AS attempts, sum(lost)::bigint AS lost
  FROM job_dead_count GROUP BY queue, kind) AS dead
WHERE jobs > 0

-- name: stalled
-- The jobs of more than an hour ago that wait after an attempt, with the oldest of them and what its attempt has said.
SELECT count(*) AS jobs, (array_agg(public_id ORDER BY id))[1] AS oldest, (array_agg(last_error ORDER BY id))[1] AS error
FROM job WHERE state = 's' AND last_error IS NOT NULL AND created_at < statement_timestamp() - interval '1 hour'
HAVING count(*) > 0

-- name: finished
-- now() instead of clock_timestamp(): it is stable, so that the planner can prune the partitions of earlier days.
SELECT kind, accepted, rejected, cancelled, attempts, lost, durations[1] AS p50, durations[2] AS p95,
  durations[3] AS p99
FROM (
  SELECT kind, count(*) FILTER (WHERE outcome = 'a') AS accepted, count(*) FILTER (WHERE outcome = 'r') AS rejected,
    count(*) FILTER (WHERE outcome = 'c') AS cancelled, sum(attempt)::bigint AS attempts, sum(lost)::bigint AS lost,
    percentile_cont(ARRAY[0.5, 0.95, 0.99])
      WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - started_at)::float8)
      FILTER (WHERE outcome <> 'c') AS durations
  FROM job_done
  WHERE finished_at >= now() - make_interval(secs => $1::float8)
  GROUP BY kind) AS kinds
ORDER BY kind

-- name: minutes
-- The outcomes of the jobs that ended within the last hour, by minute and kind.
SELECT date_trunc('minute', finished_at) AS at, kind, count(*) FILTER (WHERE outcome = 'a') AS accepted,
  count(*) FILTER (WHERE outcome = 'r') AS rejected, count(*) FILTER (WHERE outcome = 'c') AS cancelled
FROM job_done WHERE finished_at >= now() - interval '1 hour'
GROUP BY 1, 2 ORDER BY 1, 2

-- name: times
-- The time from the submission to the end of the jobs that ended within the last hour, without cancelled ones.
SELECT kind, jobs, durations[1] AS p50, durations[2] AS p95, durations[3] AS p99
FROM (
  SELECT kind, count(*) AS jobs,
    percentile_cont(ARRAY[0.5, 0.95, 0.99])
      WITHIN GROUP (ORDER BY extract(epoch FROM finished_at - created_at)::float8) AS durations
  FROM job_done WHERE finished_at >= now() - interval '1 hour' AND outcome <> 'c'
  GROUP BY kind) AS kinds
ORDER BY kind

-- name: dead_errors
-- The first lines of the last errors of the newest dead jobs, the most frequent first.
SELECT left(split_part(last_error, E'\n', 1), 200) AS error, count(*) AS jobs
FROM (SELECT last_error FROM job_dead ORDER BY died_at DESC LIMIT 10000) AS newest
GROUP BY 1 ORDER BY jobs DESC, error LIMIT 20

-- name: workers
-- A heartbeat from the future, by a clock that has stepped back since, does not show that the worker lives; the next one does.
SELECT id, host, process, started_at, greatest(extract(epoch FROM clock_timestamp() - beat_at), 0)::float8 AS silence,
  beat_at BETWEEN clock_timestamp() - {lease(worker)} AND clock_timestamp() + interval '1 second'
    AS is_alive, slots, recent,
  (SELECT count(*) FROM job WHERE job.worker_id = worker.id AND state = 'x') AS jobs
FROM worker ORDER BY id

-- name: horizon
-- What holds back the xmin horizon, so that VACUUM cannot remove dead rows. A role without pg_read_all_stats sees no
-- details of other roles' sessions. A slot has no age in seconds, only in transactions.
SELECT 'session' AS holder, pid::text AS name, coalesce(application_name, '') AS application, coalesce(state, '') AS state,
  extract(epoch FROM clock_timestamp() - xact_start)::float8 AS seconds,
  greatest(age(backend_xmin), age(backend_xid))::bigint AS transactions
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
  AND (backend_xmin IS NOT NULL OR backend_xid IS NOT NULL)
UNION ALL
SELECT 'standby', pid::text, coalesce(application_name, ''), coalesce(state, ''), NULL, age(backend_xmin)::bigint
FROM pg_stat_activity
WHERE backend_type = 'walsender' AND backend_xmin IS NOT NULL
UNION ALL
SELECT 'prepared', gid, '', 'prepared', extract(epoch FROM clock_timestamp() - prepared)::float8,
  age(transaction)::bigint
FROM pg_prepared_xacts WHERE database = current_database()
UNION ALL
SELECT 'slot', slot_name, coalesce(plugin, ''), CASE WHEN active THEN 'active' ELSE 'inactive' END, NULL,
  greatest(age(xmin), age(catalog_xmin))::bigint
FROM pg_replication_slots WHERE xmin IS NOT NULL OR catalog_xmin IS NOT NULL

-- name: tables
SELECT relname AS name, n_live_tup AS live, n_dead_tup AS dead
FROM pg_stat_user_tables
WHERE relid IN ('job'::regclass, 'job_progress'::regclass, 'job_dead'::regclass)
ORDER BY relname
