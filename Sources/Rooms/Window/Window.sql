-- The daily window.

-- fragment: next_opening
-- The server knows the changes of a zone's offset: a local time that a change skips is moved forward by the change, and of a local time
-- that occurs twice it takes one.
SELECT at, seconds
FROM unnest($1::int[], $2::int[]) AS opening (second_of_day, seconds)
CROSS JOIN generate_series(-1, 2) AS days
CROSS JOIN LATERAL (
  SELECT ((clock_timestamp() AT TIME ZONE $3)::date + days + make_interval(secs => second_of_day)) AT TIME ZONE $3 AS at) AS local
WHERE at > clock_timestamp() ORDER BY at LIMIT 1

-- name: next_opening
{next_opening}

-- name: time_to_opening
-- Negative if the window is due; no row: the schedule is another one.
SELECT extract(epoch FROM next_at - clock_timestamp())::float8 AS seconds FROM window_schedule WHERE schedule = $1

-- name: schedule_window
INSERT INTO window_schedule (schedule, next_at, seconds) SELECT $4, at, seconds FROM ({next_opening}) AS opening
ON CONFLICT (is_only) DO UPDATE SET schedule = excluded.schedule, next_at = excluded.next_at, seconds = excluded.seconds
WHERE window_schedule.schedule <> excluded.schedule

-- name: open_window
-- Of several workers one takes the row; the others find its next time when they look again. So the numbers of windows commit in their
-- order, too. Times have milliseconds, as in the notification and in the API.
WITH due AS (
  SELECT seconds FROM window_schedule WHERE schedule = $4 AND next_at <= clock_timestamp() FOR UPDATE SKIP LOCKED),
advanced AS (
  UPDATE window_schedule SET next_at = opening.at, seconds = opening.seconds FROM ({next_opening}) AS opening
  WHERE EXISTS (SELECT FROM due))
INSERT INTO daily_window (opened_at, closes_at)
SELECT at, at + make_interval(secs => seconds)
FROM due, (SELECT date_trunc('milliseconds', clock_timestamp()) AS at) AS time
RETURNING id

-- name: window_schedule
SELECT schedule FROM window_schedule WHERE next_at > clock_timestamp() - interval '7 days'

-- name: window
SELECT opened_at, closes_at, closes_at > clock_timestamp() AS is_open FROM daily_window ORDER BY opened_at DESC LIMIT 1

-- name: windows_at
-- The last windows that had opened at two times, of which the second is the present, and the present.
SELECT present, recorded.opened_at AS recorded_opened, recorded.closes_at AS recorded_closes,
  arrived.opened_at AS arrived_opened, arrived.closes_at AS arrived_closes
FROM (SELECT clock_timestamp() AS present) AS time
LEFT JOIN LATERAL (
  SELECT opened_at, closes_at FROM daily_window WHERE opened_at <= least($1::timestamptz, present)
  ORDER BY opened_at DESC LIMIT 1) AS recorded ON $1 IS NOT NULL
LEFT JOIN LATERAL (
  SELECT opened_at, closes_at FROM daily_window WHERE opened_at <= present ORDER BY opened_at DESC LIMIT 1) AS arrived ON true
WHERE EXISTS (SELECT FROM daily_window)

-- name: notify_window
SELECT pg_notify($1, json_build_object(
  'opened_at', to_char(opened_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
  'closes_at', to_char(closes_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text)
FROM daily_window WHERE id = $2

-- name: last_window
SELECT id, closes_at <= clock_timestamp() AS is_over FROM daily_window ORDER BY id DESC LIMIT 1

-- name: windows
-- The windows from a number on.
SELECT id, opened_at, closes_at, closes_at <= clock_timestamp() AS is_over FROM daily_window
WHERE id >= $1::bigint ORDER BY id LIMIT 100
