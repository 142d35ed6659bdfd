-- fragment: account_columns
account.user_id, app_user.user_name, account.password_hash, account.created_at, account.disabled_at

-- fragment: accounts
account JOIN app_user ON app_user.id = account.user_id

-- name: insert_account
INSERT INTO account (user_id, password_hash) VALUES ($1, $2)

-- name: account_named
SELECT {account_columns} FROM {accounts} WHERE lower(app_user.user_name COLLATE "C") = lower($1 COLLATE "C")

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

-- name: email_of_account
SELECT email FROM app_user WHERE id = $1

-- name: save_code
INSERT INTO one_time_code AS code (user_id, purpose, hash, email) VALUES ($1, $2, $3, $4)
ON CONFLICT (user_id, purpose) DO UPDATE SET hash = excluded.hash, email = excluded.email, created_at = excluded.created_at
WHERE code.created_at < excluded.created_at - make_interval(secs => $5::float8)

-- name: blank_events_with_codes
UPDATE user_event SET data = NULL
WHERE kind IN ('account_verification_requested', 'password_reset_requested') AND data IS NOT NULL
  AND created_at < statement_timestamp() - make_interval(secs => $1::float8)

-- name: drop_expired_codes
DELETE FROM one_time_code WHERE created_at < statement_timestamp() - make_interval(secs => $1::float8)
