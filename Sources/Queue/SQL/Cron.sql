-- Cron entries.

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
WHERE NOT is_paused AND next_at <= statement_timestamp()
ORDER BY next_at LIMIT 100

-- name: cron_advance
-- Compare and set: of several workers that fire an entry at once, one gets the due time, and with it the unique key of
-- the job.
UPDATE cron_entry SET last_at = next_at, next_at = $3::timestamptz
WHERE name = $1 AND next_at = $2::timestamptz AND NOT is_paused
RETURNING sha256(convert_to(name, 'UTF8') || '\x00'::bytea || timestamptz_send(last_at)) AS unique_key

-- name: cron_next_of_kind
SELECT min(next_at) AS at FROM cron_entry WHERE kind = $1 AND NOT is_paused
