-- What several statements share. `{name}` in a statement inserts the fragment of that name, and `{name(argument)}`
-- replaces `{parameter}` in it.
--
-- The letters of job.state: 's' scheduled, 'p' throttled by its limit, 'a' available, 'x' executing. The letters of
-- job_done.outcome: 'a' accepted, 'r' rejected, 'c' cancelled. job.lost counts the attempts that ended because the
-- worker was lost or the deadline passed.

-- fragment: job_columns
-- What never changes from the submission of a job to its end: the same in job, job_dead and job_done. ClaimedJob reads
-- these columns in this order, after those of claimed_columns.
id, public_id, queue, kind, max_attempts, author, definition, request, arguments, trace

-- fragment: record_columns
-- What all three tables have, except lost and last_error, which some statements change on the way.
{job_columns}, created_at, attempt, started_at

-- fragment: done_columns
-- What job_done takes from job.
{record_columns}, worker_id, token

-- fragment: redrive_columns
-- What a dead job keeps for its next life.
priority, deadline_seconds, unique_key, limit_name

-- fragment: dead_columns
-- What job_dead takes from job.
{record_columns}, {redrive_columns}, postponed_at

-- fragment: claimed_columns(claimed_at)
-- In the order in which ClaimedJob reads them.
token, attempt, lost, deadline_seconds, limit_name, rank, run_at, {claimed_at} AS claimed_at, created_at, {job_columns}

-- fragment: microseconds(time)
(extract(epoch FROM {time}) * 1e6)::bigint

-- fragment: rank(microseconds, priority)
-- The order of claims: a time, and 30 seconds for each step of the priority.
{microseconds} + {priority} * 30000000::bigint

-- fragment: head_start
-- The steps of the priority by which a job goes ahead that a client waits for: ten minutes.
20

-- fragment: share_time
-- How far ahead a fair share of few jobs may be, in microseconds.
600000000

-- fragment: counted_jobs
-- The number of waiting jobs of an author up to which they are counted at each submission.
1000

-- fragment: head_start_pause
-- The time for which a head start of an author counts, in microseconds: two within ten minutes.
300000000

-- fragment: due_state(limit)
-- The state of a job that may be claimed as far as its limit has room.
CASE WHEN {limit} IS NULL THEN 'a' ELSE 'p' END::"char"

-- fragment: room
-- How many more jobs of a limit may be available or executing.
(job_limit.most - (
  SELECT count(*) FROM job AS active WHERE active.limit_name = job_limit.name AND active.state IN ('a', 'x')))

-- fragment: deadline
-- The end of an attempt that begins now.
clock_timestamp() + make_interval(secs => job.deadline_seconds + 30.0)

-- fragment: lease(worker)
-- How long a worker holds its jobs after a heartbeat, a day at most: one row with another value would end the statement for all workers.
make_interval(secs => greatest(least({worker}.lease_seconds, 86400), 0))

-- fragment: counted(number)
-- One more, as far as the column has room: a count that raised would end the statement for all jobs of its page.
least({number} + 1, 32767)

-- fragment: held
-- The guard of what gives a job back: the token is the job's, and the job is not to be cancelled, because such a job
-- gets no further attempt.
id = $1 AND token = $2 AND cancel_at IS NULL

-- fragment: end_attempt
-- An attempt that ends after its deadline began before the clock of the server stepped forward, or was not stopped in time. Its pause is one
-- from now on if the clock steps back: doubt_schedules.
token = NULL, worker_id = NULL, deadline_at = NULL,
started_at = CASE WHEN deadline_at < clock_timestamp() THEN clock_timestamp() ELSE started_at END

-- fragment: buried(jobs)
buried AS (
    INSERT INTO job_dead ({dead_columns}, lost, last_error)
    SELECT {dead_columns}, lost, error FROM {jobs})

-- fragment: has_attempts
-- Again or dead, after an attempt that counts.
attempt < max_attempts

-- fragment: may_be_postponed(time, limit)
-- Again or dead, after an attempt that does not count: again for a number of seconds after the first of them.
(postponed_at IS NULL OR postponed_at > {time} - make_interval(secs => {limit}))

-- fragment: back_off(first, factor, earlier, max)
-- The pause after an attempt that counts, in seconds: it grows by a factor with each earlier one. The exponent is
-- bounded because a float8 overflows with an error.
least({first} * power({factor}, least({earlier}, 30)), {max})

-- fragment: postponement(time, first, max)
-- The pause after an attempt that does not count, in seconds: a quarter of the time since the first of them.
least(greatest({first}, extract(epoch FROM {time} - postponed_at)::float8 / 4), {max})

-- fragment: after(pause)
-- The random factor keeps jobs that failed together from returning together.
clock_timestamp() + make_interval(secs => (0.5 + random()) * {pause})
