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

-- name: drop_events_of_user
DELETE FROM user_event WHERE user_id = $1 AND number IN (
  SELECT number FROM user_event WHERE user_id = $1 ORDER BY number LIMIT $2::int)

-- name: blank_events_by_user
-- The numbers of another user's events stay without gaps.
UPDATE user_event SET kind = 'forgotten', actor = NULL, post = NULL, subject = NULL
WHERE (user_id, number) IN (SELECT user_id, number FROM user_event WHERE actor = $1 LIMIT $2::int)

-- name: drop_tickets_of_user
DELETE FROM event_ticket WHERE user_id = $1

-- name: drop_event_count
DELETE FROM user_event_count WHERE user_id = $1
