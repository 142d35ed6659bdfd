-- Jobs are claimed one by one again. What a group still holds returns to the queue, and the constraint refuses new groups:
-- a worker of an older version that runs beside a newer one claims no short job. The empty tables stay for the statements
-- of such a worker; a later version drops them, and job_progress.checkpoint, which no statement writes any more.
WITH ended AS (DELETE FROM job_group RETURNING queue, members)
INSERT INTO job (id, public_id, queue, kind, state, rank, priority, attempt, max_attempts, lost, deadline_seconds, author,
                 definition, request, created_at, last_error, arguments, blamed, postponed_at)
OVERRIDING SYSTEM VALUE
SELECT member.id, member.public_id, ended.queue, member.kind, 'a', member.rank, member.priority, member.attempt,
  member.max_attempts, member.lost, member.deadline_seconds, member.author, member.definition, member.request,
  member.created_at, member.last_error, member.arguments, coalesce((member.more ->> 'blamed')::smallint, 0),
  (member.more ->> 'postponed_at')::timestamptz
FROM ended, unnest(members) AS member;
ALTER TABLE job_group ADD CONSTRAINT job_group_retired CHECK (false);
