-- fragment: is_blocked(user, actor)
-- Whether a user has blocked the one who caused something, or is blocked by that user.
EXISTS (
  SELECT FROM relation
  WHERE relation.user_id = {user} AND relation.target = {actor} AND relation.kind IN ('block', 'blocked'))

-- name: insert_event
-- Inserts an event of a user, unless the user caused it, has blocked who caused it, or is being deleted. The row of the count stays locked until the commit.
WITH counted AS (
  INSERT INTO user_event_count AS count (user_id, last)
  SELECT $1, 1 WHERE $1 IS DISTINCT FROM $3::text AND NOT EXISTS (SELECT FROM forgetting WHERE forgetting.user_id = $1)
    AND NOT {is_blocked($1, $3::text)}
  ON CONFLICT (user_id) DO UPDATE SET last = count.last + 1
  RETURNING user_id, last)
INSERT INTO user_event (user_id, number, kind, actor, post, subject)
SELECT user_id, last, $2, $3, $4::uuid, $5::uuid FROM counted
RETURNING number

-- name: notify_user
SELECT pg_notify($1, $2)

-- name: last_events
SELECT user_id, last FROM user_event_count WHERE user_id = ANY ($1::text[])

-- name: events
-- What a user whom the reader has blocked since then caused is blank, as what a deleted user caused.
SELECT number, CASE WHEN {is_blocked(user_event.user_id, user_event.actor)} THEN 'forgotten' ELSE kind END AS kind, actor,
  post, subject, created_at
FROM user_event
WHERE user_id = $1 AND number > $2::bigint ORDER BY number LIMIT $3::int

-- name: drop_old_events
DELETE FROM user_event WHERE (user_id, number) IN (
  SELECT user_id, number FROM user_event
  WHERE created_at < statement_timestamp() - make_interval(secs => $1::float8) ORDER BY created_at LIMIT 1000)

-- name: windows
-- The windows from a number on.
SELECT id, opened_at, closes_at, closes_at <= clock_timestamp() AS is_over FROM daily_window
WHERE id >= $1::bigint ORDER BY id LIMIT 100

-- name: last_window
SELECT id, closes_at <= clock_timestamp() AS is_over FROM daily_window ORDER BY id DESC LIMIT 1

-- name: insert_ticket
INSERT INTO event_ticket (hash, user_id, token, minter, api_key_id, expires_at)
VALUES ($1, $2, $3::uuid, $4, $5::bigint, clock_timestamp() + make_interval(secs => $6::float8))
RETURNING expires_at

-- name: take_ticket
-- Of two requests with one ticket, one finds no row.
DELETE FROM event_ticket WHERE hash = $1
RETURNING user_id, token, minter, api_key_id, expires_at > clock_timestamp() AS is_valid

-- name: drop_expired_tickets
DELETE FROM event_ticket WHERE expires_at < statement_timestamp()
