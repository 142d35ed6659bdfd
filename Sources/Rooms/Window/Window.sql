-- The daily window.

-- fragment: known_offset
-- The offset of the zone at present. NULL: the server does not know the zone.
local_time(statement_timestamp(), $4, NULL) - (statement_timestamp() AT TIME ZONE 'UTC')

-- fragment: last_offset
-- What counts where the server does not know the zone: the offset that it had last, or else none. Users expect the window at about the
-- usual time of their day rather than not at all.
coalesce((SELECT utc_offset FROM window_schedule WHERE schedule = $6), interval '0')

-- fragment: openings(first_day, last_day, offset)
-- The hours of days, counted from the present one, and the time in them at which the window opens. The server knows the changes of a
-- zone's offset: a local time that a change skips is moved forward by the change, and of a local time that occurs twice it takes one.
-- A time that is not fixed is uniform in the seconds that pass between the ends of the hours; the secret and the date decide it.
SELECT day, seconds, starts_at, ends_at,
  starts_at + make_interval(secs => floor(1000 * fraction * extract(epoch FROM ends_at - starts_at)::float8) / 1000) AS at
FROM unnest($1::int[], $2::int[], $3::int[]) AS opening (first_second, end_second, seconds)
CROSS JOIN generate_series({first_day}, {last_day}) AS days
CROSS JOIN (SELECT {offset} AS utc_offset) AS otherwise
CROSS JOIN LATERAL (SELECT local_time(clock_timestamp(), $4, utc_offset)::date + days AS day) AS date
CROSS JOIN LATERAL (SELECT instant_of(day + make_interval(secs => first_second), $4, utc_offset) AS starts_at) AS start
CROSS JOIN LATERAL (
  SELECT greatest(starts_at, instant_of(day + make_interval(secs => end_second), $4, utc_offset)) AS ends_at,
    coalesce(('x' || left(encode(sha256(secret || convert_to(to_char(day, 'YYYY-MM-DD'), 'UTF8')), 'hex'), 12))::bit(48)::bigint / 2 ^ 48, 0)
      AS fraction
  FROM chosen) AS hours
WHERE extract(isodow FROM day) = ANY ($5::int[])

-- fragment: last_opening
coalesce((SELECT max(opened_at) FROM daily_window), '-infinity')

-- fragment: next_opening
-- Not in hours in which a window has opened: those of the schedule may be other ones by now.
SELECT at, seconds FROM ({openings(-1, 8, {last_offset})}) AS opening
WHERE at > clock_timestamp() AND starts_at > {last_opening} ORDER BY at LIMIT 1

-- fragment: secret
-- Another schedule has another one: from the time at which a window has opened no client computes that of other hours.
SELECT coalesce(
  (SELECT secret FROM window_schedule WHERE schedule = $6),
  sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8'))) AS secret

-- name: window_schedule
-- The time to the opening is negative if the window is due.
SELECT schedule, is_operators, extract(epoch FROM next_at - clock_timestamp())::float8 AS seconds FROM window_schedule

-- name: is_zone_known
SELECT local_time(statement_timestamp(), $1, NULL) IS NOT NULL AS is_known

-- name: schedule_window
-- By the option of a process.
WITH chosen AS MATERIALIZED ({secret})
INSERT INTO window_schedule (schedule, next_at, seconds, secret, utc_offset)
SELECT $6, at, opening.seconds, secret, {known_offset} FROM chosen, ({next_opening}) AS opening
ON CONFLICT (is_only) DO UPDATE
SET schedule = excluded.schedule, next_at = excluded.next_at, seconds = excluded.seconds, secret = excluded.secret,
  utc_offset = excluded.utc_offset
WHERE window_schedule.schedule <> excluded.schedule AND NOT window_schedule.is_operators

-- name: lock_window_schedule
LOCK TABLE window_schedule IN SHARE ROW EXCLUSIVE MODE

-- name: set_window
-- By an operator. A window that is due still opens, if the schedule is the same.
WITH chosen AS MATERIALIZED ({secret})
INSERT INTO window_schedule (schedule, next_at, seconds, secret, is_operators, set_at, utc_offset)
SELECT $6, at, opening.seconds, secret, true, clock_timestamp(), {known_offset} FROM chosen, ({next_opening}) AS opening
ON CONFLICT (is_only) DO UPDATE
SET schedule = excluded.schedule, seconds = excluded.seconds, secret = excluded.secret, is_operators = true, set_at = excluded.set_at,
  utc_offset = excluded.utc_offset,
  next_at = CASE WHEN window_schedule.schedule = excluded.schedule THEN least(window_schedule.next_at, excluded.next_at)
    ELSE excluded.next_at END

-- name: clear_window
DELETE FROM window_schedule WHERE is_operators

-- name: preview_window
-- The hours of the next days, without the times in them.
WITH chosen AS (SELECT NULL::bytea AS secret)
SELECT to_char(starts_at AT TIME ZONE $4, 'YYYY-MM-DD"T"HH24:MI:SS') AS local_from,
  to_char(ends_at AT TIME ZONE $4, 'YYYY-MM-DD"T"HH24:MI:SS') AS local_until, starts_at, ends_at, seconds
FROM ({openings(-1, 7, NULL::interval)}) AS opening
WHERE ends_at > clock_timestamp() AND starts_at > {last_opening} ORDER BY starts_at

-- name: open_window
-- Of several workers one takes the row; the others find its next time when they look again. So the numbers of windows commit in their
-- order, too. Times have milliseconds, as in the notification and in the API.
WITH due AS (
  SELECT seconds FROM window_schedule WHERE schedule = $6 AND next_at <= clock_timestamp() FOR UPDATE SKIP LOCKED),
chosen AS MATERIALIZED (SELECT secret FROM window_schedule),
advanced AS (
  UPDATE window_schedule SET next_at = opening.at, seconds = opening.seconds, utc_offset = coalesce({known_offset}, utc_offset) FROM ({next_opening}) AS opening
  WHERE EXISTS (SELECT FROM due))
INSERT INTO daily_window (opened_at, closes_at)
SELECT at, at + make_interval(secs => seconds)
FROM due, (SELECT date_trunc('milliseconds', clock_timestamp()) AS at) AS time
RETURNING id, opened_at, closes_at

-- name: latest_windows
SELECT opened_at, closes_at, closes_at > clock_timestamp() AS is_open FROM daily_window
ORDER BY opened_at DESC LIMIT $1::int

-- name: windows_at
-- The last windows that had opened when something was recorded, or some seconds later, and at present; when its upload began, some
-- seconds ago, and the present. Nothing was recorded after its upload began.
SELECT present, began, recorded.opened_at AS recorded_opened, recorded.closes_at AS recorded_closes,
  arrived.opened_at AS arrived_opened, arrived.closes_at AS arrived_closes
FROM (SELECT clock_timestamp() AS present) AS time
CROSS JOIN LATERAL (SELECT present - make_interval(secs => $2::float8) AS began) AS upload
LEFT JOIN LATERAL (
  SELECT opened_at, closes_at FROM daily_window
  WHERE opened_at <= least(least($1::timestamptz, began) + make_interval(secs => $3::float8), present)
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
-- The windows from a number on, the last hundred: who asks for those of years takes none from the others.
SELECT * FROM (
  SELECT id, opened_at, closes_at, closes_at <= clock_timestamp() AS is_over FROM daily_window
  WHERE id >= $1::bigint ORDER BY id DESC LIMIT 100) AS last
ORDER BY id
