-- Cancellation, retries and head starts, by operators, by maintenance and for clients that wait.

-- name: lock_jobs
-- Locks jobs until the transaction ends, in the order of their ids, so that two transactions cannot deadlock.
SELECT FROM job WHERE public_id = ANY ($1::uuid[]) ORDER BY public_id FOR UPDATE

-- name: lock_free_jobs
-- The same for a transaction that has locked what the jobs are for, which comes after them: what another one has locked is left out.
SELECT public_id FROM job WHERE public_id = ANY ($1::uuid[]) FOR UPDATE SKIP LOCKED

-- fragment: has_head_start(job, spent)
-- Whether a job of an author, at its place among those that are asked for, goes ahead.
({job}.author IS NULL
    OR greatest(coalesce({spent}.next_rank, 0), now) + {job}.place * {head_start_pause} <= now + 2 * {head_start_pause})

-- name: give_head_starts
-- Once for each job, which has a priority below zero from then on, and twice for an author within ten minutes: the first that wait. A job
-- that executes, or that another transaction has locked, is left as it is. What an author has left is read first, so that nothing is locked
-- of one who has none, and again of the row that is locked; the conditions are compared again with the job that is locked, and with the one
-- that is written.
WITH time AS MATERIALIZED (SELECT {microseconds(clock_timestamp())} AS now),
  asked AS MATERIALIZED (
    SELECT id, author, row_number() OVER (PARTITION BY author ORDER BY rank, id) AS place FROM job
    WHERE public_id = ANY ($1::uuid[]) AND state <> 'x' AND priority >= 0),
  fitting AS MATERIALIZED (
    SELECT asked.* FROM asked CROSS JOIN time LEFT JOIN job_share AS spent ON spent.name = 'ahead:' || asked.author
    WHERE {has_head_start(asked, spent)}),
  spent AS MATERIALIZED (
    SELECT name, next_rank FROM job_share WHERE name IN (SELECT 'ahead:' || author FROM fitting) ORDER BY name FOR NO KEY UPDATE),
  moved AS MATERIALIZED (
    SELECT id, author FROM job
    WHERE id IN (
        SELECT fitting.id FROM fitting CROSS JOIN time LEFT JOIN spent ON spent.name = 'ahead:' || fitting.author
        WHERE {has_head_start(fitting, spent)})
      AND state <> 'x' AND priority >= 0 FOR NO KEY UPDATE SKIP LOCKED),
  paid AS (
    INSERT INTO job_share AS spent (name, next_rank)
    SELECT 'ahead:' || author, now + count(*) * {head_start_pause} FROM moved CROSS JOIN time WHERE author IS NOT NULL
    GROUP BY author, now ORDER BY author
    ON CONFLICT (name) DO UPDATE
    SET next_rank = greatest(spent.next_rank, (SELECT now FROM time)) + excluded.next_rank - (SELECT now FROM time))
UPDATE job SET priority = priority - {head_start}, rank = {rank(rank, -{head_start})}
WHERE id IN (SELECT id FROM moved) AND state <> 'x' AND priority >= 0
RETURNING queue

-- name: cancel_waiting
WITH ended AS (
    DELETE FROM job WHERE public_id = ANY ($1::uuid[]) AND state <> 'x'
    RETURNING {record_columns}, lost, last_error)
INSERT INTO job_done ({record_columns}, lost, last_error, outcome)
SELECT {record_columns}, lost, last_error, 'c' FROM ended
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
WHERE coalesce(postponed_at, died_at) > statement_timestamp() - make_interval(secs => $2::float8)
  AND died_at > statement_timestamp() - make_interval(secs => $2::float8)
  AND died_at < statement_timestamp()
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
  WHERE id IN (SELECT id FROM job_dead WHERE public_id = ANY ($1::uuid[]) ORDER BY public_id FOR UPDATE)
    AND (unique_key IS NULL
      OR NOT EXISTS (SELECT FROM job WHERE job.unique_key = job_dead.unique_key)
        AND NOT EXISTS (
          SELECT FROM job_dead AS other
          WHERE other.public_id = ANY ($1::uuid[]) AND other.unique_key = job_dead.unique_key
            AND other.id < job_dead.id))
  RETURNING {job_columns}, {redrive_columns}, created_at, last_error,
    CASE WHEN $2::boolean THEN lost ELSE 0 END AS lost,
    CASE WHEN $2::boolean THEN coalesce(postponed_at, died_at) END AS postponed_at)
INSERT INTO job ({job_columns}, {redrive_columns}, created_at, last_error, lost, postponed_at, state, rank)
OVERRIDING SYSTEM VALUE
SELECT {job_columns}, {redrive_columns}, created_at, last_error, lost, postponed_at, {due_state(limit_name)},
  {rank({microseconds(clock_timestamp())}, priority)}
FROM redriven ORDER BY public_id
RETURNING public_id, queue

-- name: retry_now
-- Makes a scheduled job available now, with the rank of its submission; redrive makes a dead job available.
UPDATE job SET state = {due_state(limit_name)}, run_at = clock_timestamp()
WHERE id IN (SELECT id FROM job WHERE public_id = ANY ($1::uuid[]) ORDER BY public_id FOR NO KEY UPDATE) AND state = 's'
RETURNING public_id, queue
