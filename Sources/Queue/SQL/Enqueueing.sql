-- Submissions of jobs, and notifications.

-- fragment: new_columns
-- What every submission sets.
public_id, queue, kind, state, rank, run_at, priority, max_attempts, deadline_seconds, author, definition, request,
arguments, trace

-- name: enqueue
-- Jobs of one fair share get ranks apart from each other, so that other jobs come between them, however many of the author wait. What has been
-- done delays nothing: a share is ahead by at most ten minutes, or by a turn for each job that waits. Without the second, all jobs beyond ten
-- minutes had the same rank, and stood before what others submitted ten minutes later. Counting ends at a number from which on the share is
-- ahead by as much as was submitted.
WITH time AS MATERIALIZED (
    SELECT at, {microseconds(at)} AS microseconds
    FROM (SELECT clock_timestamp() + make_interval(secs => $4::float8) AS at) AS time),
  longest AS MATERIALIZED (
    SELECT CASE WHEN count(*) < {counted_jobs} THEN greatest({share_time}, count(*) * ($14::float8 * 1e6)::bigint) END AS lead
    FROM (
      SELECT 1 FROM job WHERE job.author = $8 AND job.queue = $2 AND job.state IN ('a', 'p') LIMIT {counted_jobs}) AS waiting
    WHERE $13::text IS NOT NULL),
  share AS (
    INSERT INTO job_share (name, next_rank)
    SELECT $13, microseconds + ($14::float8 * 1e6)::bigint FROM time WHERE $13::text IS NOT NULL
    ON CONFLICT (name) DO UPDATE SET next_rank = ($14::float8 * 1e6)::bigint
      + (SELECT least(greatest(job_share.next_rank, microseconds), microseconds + lead) FROM time, longest)
    RETURNING next_rank - ($14::float8 * 1e6)::bigint AS share_rank),
  saved_limit AS (
    INSERT INTO job_limit (name, most) SELECT $15, $16::int WHERE $15::text IS NOT NULL
    ON CONFLICT (name) DO UPDATE SET most = excluded.most WHERE job_limit.most <> excluded.most)
INSERT INTO job ({new_columns}, unique_key, limit_name)
SELECT $1::uuid, $2, $3, CASE WHEN at > clock_timestamp() THEN 's' ELSE {due_state($15::text)} END,
  {rank(greatest(microseconds, (SELECT share_rank FROM share)), $5::int)}, at, $5::int, $6::int, $7::int, $8, $9, $10,
  $11::jsonb, $17, $12, $15
FROM time
ON CONFLICT (unique_key) WHERE unique_key IS NOT NULL DO NOTHING
RETURNING id

-- name: keep_live
-- The live job with a unique key; it cannot end before the commit.
SELECT id FROM job WHERE unique_key = $1 FOR KEY SHARE

-- name: now
-- The time, and what a step of the priority adds to a rank: COPY computes nothing.
SELECT {microseconds(clock_timestamp())} AS now, {rank(0::bigint, 1)} AS step

-- name: enqueue_many
-- The fastest insertion, for jobs without a unique key, a fair share or a limit.
COPY job ({new_columns})
FROM STDIN WITH (FORMAT binary)

-- name: notify_many
-- As notify, for several payloads.
SELECT pg_notify($1, about) FROM unnest($2::text[]) AS about
WHERE set_config('synchronous_commit', 'off', true) = 'off'

-- name: notify
-- A notification may be lost: its receivers poll as well. So the commit need not wait for the disk.
SELECT pg_notify($1, $2) WHERE set_config('synchronous_commit', 'off', true) = 'off'
