-- What senders have sent on a day.

-- name: charge
-- Adds to what a sender has sent today, unless a quota, which may be null, would be passed: then it returns no row.
INSERT INTO daily_usage AS today (day, sender, posts, bytes)
SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date, $1, $2::bigint, $3::bigint
WHERE $2::bigint <= coalesce($4::bigint, $2::bigint) AND $3::bigint <= coalesce($5::bigint, $3::bigint)
ON CONFLICT (day, sender) DO UPDATE SET posts = today.posts + excluded.posts, bytes = today.bytes + excluded.bytes
WHERE today.posts + excluded.posts <= coalesce($4::bigint, today.posts + excluded.posts)
  AND today.bytes + excluded.bytes <= coalesce($5::bigint, today.bytes + excluded.bytes)
RETURNING posts

-- name: usage_today
SELECT posts, bytes FROM daily_usage WHERE day = (statement_timestamp() AT TIME ZONE 'UTC')::date AND sender = $1

-- name: drop_old_usage
DELETE FROM daily_usage WHERE day < (statement_timestamp() AT TIME ZONE 'UTC')::date - 1

-- name: drop_usage
DELETE FROM daily_usage WHERE sender = 'user:' || $1
