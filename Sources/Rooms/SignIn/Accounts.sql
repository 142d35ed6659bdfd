-- fragment: account_columns
account.user_id, app_user.user_name, account.password_hash, account.created_at, account.disabled_at

-- fragment: accounts
account JOIN app_user ON app_user.id = account.user_id

-- name: insert_account
INSERT INTO account (user_id, password_hash) VALUES ($1, $2)

-- name: account_named
SELECT {account_columns} FROM {accounts} WHERE lower(app_user.user_name COLLATE "C") = lower($1 COLLATE "C")

-- name: account_with_email
-- Of an address that is verified, which one user has.
SELECT {account_columns} FROM {accounts}
WHERE lower(app_user.email COLLATE "C") = lower($1 COLLATE "C") AND app_user.email_verified_at IS NOT NULL

-- name: account_of_user
SELECT {account_columns} FROM {accounts} WHERE account.user_id = $1

-- name: accounts
SELECT {account_columns} FROM {accounts} ORDER BY account.created_at DESC, account.user_id LIMIT $1::int

-- name: hold_account
-- The password and the account are still those that were read, and stay so until the commit.
SELECT user_id FROM account WHERE user_id = $1 AND password_hash = $2 AND disabled_at IS NULL FOR SHARE

-- name: set_password
UPDATE account SET password_hash = $2, changed_at = clock_timestamp()
WHERE user_id = $1 AND ($3::text IS NULL OR password_hash = $3) RETURNING user_id

-- name: set_disabled
UPDATE account SET disabled_at = CASE WHEN $2::boolean THEN coalesce(disabled_at, clock_timestamp()) END
WHERE user_id = $1 RETURNING user_id

-- name: insert_renewable_session
WITH added AS (
  INSERT INTO renewable_session (token_id, secret, current, seconds, ends_at)
  SELECT id, $2, $3, $4::int, created_at + make_interval(secs => $5::float8) FROM user_token WHERE public_id = $1::uuid
  RETURNING token_id, renewed_at, seconds)
INSERT INTO access_token (hash, token_id, expires_at, is_used)
SELECT $6, token_id, renewed_at + make_interval(secs => seconds), false FROM added RETURNING expires_at

-- name: lock_renewable_session
-- The newest access token is that of the last renewal.
SELECT secret, current, former, extract(epoch FROM clock_timestamp() - renewed_at)::float8 AS age, coalesce((
  SELECT is_used FROM access_token WHERE access_token.token_id = session.token_id ORDER BY number DESC LIMIT 1), true) AS is_used
FROM renewable_session AS session
WHERE token_id = (SELECT id FROM user_token WHERE public_id = $1::uuid) FOR UPDATE

-- name: renew_session
-- A session that was ended meanwhile is not renewed.
WITH renewed AS (
  UPDATE renewable_session AS session SET former = session.current, current = $2, renewed_at = clock_timestamp()
  FROM user_token WHERE user_token.id = session.token_id AND user_token.public_id = $1::uuid AND user_token.revoked_at IS NULL
  RETURNING session.token_id, session.renewed_at, session.seconds, session.ends_at),
kept AS (
  UPDATE user_token SET last_used_at = renewed.renewed_at,
    expires_at = least(renewed.renewed_at + make_interval(secs => $4::float8), renewed.ends_at)
  FROM renewed WHERE user_token.id = renewed.token_id)
INSERT INTO access_token (hash, token_id, expires_at, is_used)
SELECT $3, token_id, least(renewed_at + make_interval(secs => seconds), ends_at), false FROM renewed RETURNING expires_at

-- name: repeat_access_token
-- One that expired on its way is as good as new.
UPDATE access_token AS token
SET expires_at = greatest(token.expires_at, least(clock_timestamp() + make_interval(secs => session.seconds), session.ends_at))
FROM renewable_session AS session WHERE token.hash = $1 AND session.token_id = token.token_id RETURNING token.expires_at

-- name: drop_surplus_access_tokens
DELETE FROM access_token WHERE hash IN (
  SELECT hash FROM access_token
  WHERE token_id = (SELECT id FROM user_token WHERE public_id = $1::uuid) ORDER BY number DESC OFFSET 2)

-- name: email_of_account
SELECT email, email_verified_at IS NOT NULL AS is_verified FROM app_user WHERE id = $1

-- name: address_of_account
-- The address is there if it is verified.
SELECT app_user.user_name, CASE WHEN email_verified_at IS NOT NULL THEN email END AS email FROM {accounts} WHERE account.user_id = $1

-- name: insert_code_request
INSERT INTO code_request (name, is_email) VALUES ($1, $2)

-- name: take_code_request
-- The oldest that no other worker has taken.
DELETE FROM code_request WHERE id = (SELECT id FROM code_request ORDER BY id LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING id, name, is_email, created_at < clock_timestamp() - make_interval(secs => $1::float8) AS is_late

-- fragment: recent_mails
-- When mails to an address were asked for within the last day.
ARRAY(SELECT asked FROM unnest(asked_at) AS asked WHERE asked > clock_timestamp() - interval '1 day')

-- name: lock_mail_count
-- Until the commit no other session counts a mail to the address; whether one more is permitted.
INSERT INTO mail_count AS count (address) VALUES (sha256(convert_to($1, 'UTF8')))
ON CONFLICT (address) DO UPDATE SET asked_at = count.asked_at
RETURNING (
  SELECT count(*) FILTER (WHERE asked > clock_timestamp() - interval '1 hour') < $2::int AND count(*) < $3::int
  FROM unnest({recent_mails}) AS asked) AS is_permitted

-- name: count_mail
UPDATE mail_count SET asked_at = {recent_mails} || clock_timestamp() WHERE address = sha256(convert_to($1, 'UTF8'))

-- name: drop_mail_counts
DELETE FROM mail_count WHERE cardinality({recent_mails}) = 0

-- fragment: replacements
-- When codes without attempts were replaced within the last day.
ARRAY(SELECT replaced FROM unnest(code.replaced_at) AS replaced WHERE replaced > excluded.created_at - interval '1 day')

-- name: save_code
-- Replaces a code after the pause, and at once one that has no attempts left, some times a day: strangers may have used them.
INSERT INTO one_time_code AS code (user_id, purpose, hash, email) VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id, purpose) DO UPDATE SET hash = excluded.hash, email = excluded.email, created_at = excluded.created_at,
  attempts = 0,
  replaced_at = {replacements} || CASE WHEN code.attempts >= $6::int THEN ARRAY[excluded.created_at] ELSE '{}' END
WHERE code.created_at < excluded.created_at - make_interval(secs => $5::float8)
  OR code.attempts >= $6::int AND cardinality({replacements}) < $7::int

-- name: try_code
-- Each attempt counts, of which a code has some from each address, and some more from all. Of two at once one waits.
UPDATE one_time_code SET attempts = attempts + 1,
  attempts_by_address = attempts_by_address || jsonb_build_object($6::text, coalesce((attempts_by_address -> $6)::int, 0) + 1)
WHERE user_id = $1 AND purpose = $2 AND attempts < $4::int
  AND coalesce((attempts_by_address -> $6)::int, 0) < $7::int
  AND created_at > clock_timestamp() - make_interval(secs => $5::float8)
RETURNING hash = $3 AS is_right

-- name: miss_code
UPDATE code_miss SET tries = tries + 1 WHERE slot = $1::int

-- name: take_code
-- For the address that the user still has. Of two requests with one code, one finds no row.
DELETE FROM one_time_code AS code USING app_user
WHERE code.user_id = $1 AND code.purpose = $2 AND code.hash = $3
  AND app_user.id = code.user_id AND lower(app_user.email COLLATE "C") = lower(code.email COLLATE "C")
RETURNING code.email

-- name: lock_account_user
-- Before the account and the code, as a deletion does.
SELECT FROM app_user WHERE id = $1 FOR NO KEY UPDATE

-- name: verify_email
UPDATE app_user SET email_verified_at = clock_timestamp(), revision = greatest(revision, history_after()) + 1 WHERE id = $1 AND email_verified_at IS NULL

-- name: blank_events_with_codes
UPDATE user_event SET data = NULL
WHERE kind IN ('account_verification_requested', 'password_reset_requested') AND data IS NOT NULL
  AND created_at < statement_timestamp() - make_interval(secs => $1::float8)

-- name: drop_expired_codes
DELETE FROM one_time_code WHERE created_at < statement_timestamp() - make_interval(secs => $1::float8)
  AND NOT EXISTS (SELECT FROM unnest(replaced_at) AS replaced WHERE replaced > statement_timestamp() - interval '1 day')
