-- The partitions of job_done, and the end of old dead jobs.

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
DELETE FROM job_done_rest WHERE finished_at < statement_timestamp() - make_interval(days => $1::int + 1)

-- name: drop_dead
DELETE FROM job_dead WHERE id = ANY (ARRAY (
  SELECT id FROM job_dead WHERE died_at < statement_timestamp() - make_interval(days => $1::int + 1)
  ORDER BY died_at LIMIT 1000 FOR UPDATE SKIP LOCKED))
