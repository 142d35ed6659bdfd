-- API keys, the keys that sign media URLs, and tickets; the users who are suspended; and the time zones that the server knows.

-- name: insert_api_key
INSERT INTO api_key (name, hash, scopes) VALUES ($1, $2, $3::text[]) RETURNING id

-- name: api_keys
SELECT id, name, hash, array_to_string(scopes, ' ') AS scopes, created_at, revoked_at FROM api_key ORDER BY id

-- name: revoke_api_key
UPDATE api_key SET revoked_at = clock_timestamp() WHERE id = $1::bigint AND revoked_at IS NULL RETURNING id

-- name: revoke_api_keys
UPDATE api_key SET revoked_at = clock_timestamp() WHERE revoked_at IS NULL

-- name: long_revoked_keys
-- Not the newest key: that one was created closes the service to clients without one, also if all are revoked.
SELECT id FROM api_key
WHERE revoked_at < statement_timestamp() - make_interval(secs => $1::float8) AND id < (SELECT max(id) FROM api_key)

-- name: drop_revoked_keys
-- Of keys that no room names; the tokens and tickets that a key has made refer to it.
DELETE FROM api_key WHERE id = ANY ($1::bigint[])
  AND NOT EXISTS (SELECT FROM user_token WHERE user_token.api_key_id = api_key.id)
  AND NOT EXISTS (SELECT FROM event_ticket WHERE event_ticket.api_key_id = api_key.id)

-- name: signing_keys
SELECT id, secret FROM signing_key WHERE retires_at IS NULL OR retires_at > statement_timestamp() ORDER BY id DESC

-- name: lock_signing_keys
LOCK TABLE signing_key IN SHARE ROW EXCLUSIVE MODE

-- name: insert_signing_key
INSERT INTO signing_key (secret) VALUES ($1)

-- name: retire_signing_keys
-- A key that retires earlier keeps its time.
UPDATE signing_key SET retires_at = least(retires_at, clock_timestamp() + make_interval(secs => $1::float8))

-- name: drop_signing_keys
DELETE FROM signing_key WHERE retires_at <= statement_timestamp()

-- name: suspension_number
SELECT number FROM suspension_change

-- name: suspended_users
SELECT user_id FROM suspension

-- name: insert_ticket
INSERT INTO event_ticket (hash, user_id, token, minter, api_key_id, expires_at, signer, signer_expires)
VALUES ($1, $2, $3::uuid, $4, $5::bigint, clock_timestamp() + make_interval(secs => $6::float8), $7, $8::bigint)
RETURNING expires_at

-- name: take_ticket
-- Of two requests with one ticket, one finds no row.
DELETE FROM event_ticket WHERE hash = $1
RETURNING user_id, token, minter, api_key_id, signer, signer_expires, expires_at > clock_timestamp() AS is_valid

-- name: zones
SELECT name FROM pg_timezone_names
