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
