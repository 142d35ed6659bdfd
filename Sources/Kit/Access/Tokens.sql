-- fragment: token_columns(last_used_at)
token.id, token.public_id, token.user_id, token.hash, token.minter, token.api_key_id, token.upload_grant, token.used_at,
  token.created_at, token.expires_at, token.device, {last_used_at} AS last_used_at

-- fragment: valid_tokens
-- A token is valid until it expires or is revoked, and no longer than the API key or the account that minted it.
user_token AS token LEFT JOIN api_key ON api_key.id = token.api_key_id
WHERE token.revoked_at IS NULL AND token.expires_at > clock_timestamp() AND api_key.revoked_at IS NULL
  AND (token.minter <> 'account' OR EXISTS (
    SELECT FROM account WHERE account.user_id = token.user_id AND account.disabled_at IS NULL))

-- name: insert_user_token
INSERT INTO user_token AS token (public_id, user_id, hash, minter, api_key_id, upload_grant, expires_at, device)
VALUES ($1::uuid, $2, $3, $4, $5::bigint, $6::jsonb, clock_timestamp() + make_interval(secs => $7::float8), $8)
RETURNING {token_columns(token.last_used_at)}

-- name: user_token
SELECT {token_columns(token.last_used_at)} FROM {valid_tokens} AND token.public_id = $1::uuid

-- name: user_token_of_hash
-- The hash is that of the token, or of an access token of a session, which has its own first use.
WITH bearer AS (
  SELECT id, true AS is_used FROM user_token WHERE hash = $1
  UNION ALL SELECT token_id, is_used FROM access_token WHERE hash = $1 AND expires_at > clock_timestamp())
SELECT {token_columns(CASE WHEN (SELECT is_used FROM bearer) THEN token.last_used_at END)}
FROM {valid_tokens} AND token.id = (SELECT id FROM bearer)

-- name: user_token_of_user
SELECT {token_columns(token.last_used_at)} FROM {valid_tokens} AND token.user_id = $1 AND token.minter <> ALL ($2::text[]) LIMIT 1

-- name: valid_user_tokens
SELECT token.public_id FROM {valid_tokens} AND token.public_id = ANY ($1::uuid[])

-- name: user_tokens
-- All, or those that are not limited to one submission.
SELECT {token_columns(token.last_used_at)} FROM {valid_tokens} AND ($5::boolean OR token.upload_grant IS NULL)
  AND token.user_id = $1 AND (token.created_at, token.id) < ($2::timestamptz, $3::bigint)
ORDER BY token.created_at DESC, token.id DESC LIMIT $4::int

-- name: note_uses
-- Of tokens by their hashes, in an order of all, in which others lock several.
WITH bearer AS (
  SELECT id FROM user_token WHERE hash = ANY ($1::bytea[])
  UNION SELECT token_id FROM access_token WHERE hash = ANY ($1::bytea[])),
used AS MATERIALIZED (
  SELECT user_token.id FROM user_token JOIN bearer USING (id)
  WHERE last_used_at IS NULL OR last_used_at < clock_timestamp() - make_interval(secs => $2::float8)
  ORDER BY user_token.id FOR NO KEY UPDATE OF user_token SKIP LOCKED),
noted AS (UPDATE user_token SET last_used_at = clock_timestamp() FROM used WHERE user_token.id = used.id),
first AS MATERIALIZED (
  SELECT hash FROM access_token WHERE hash = ANY ($1::bytea[]) AND NOT is_used ORDER BY hash FOR UPDATE SKIP LOCKED)
UPDATE access_token SET is_used = true FROM first WHERE access_token.hash = first.hash

-- name: revoke_user_token
UPDATE user_token AS token SET revoked_at = clock_timestamp()
WHERE public_id = $1::uuid AND user_id = $2 AND revoked_at IS NULL RETURNING {token_columns(token.last_used_at)}

-- name: revoke_user_tokens
UPDATE user_token SET revoked_at = clock_timestamp()
WHERE user_id = $1 AND revoked_at IS NULL AND public_id IS DISTINCT FROM $2::uuid RETURNING public_id

-- name: use_grant
-- The row stays locked until the commit: of two submissions one waits, and then finds the grant used.
UPDATE user_token SET used_at = clock_timestamp()
WHERE public_id = $1::uuid AND used_at IS NULL AND revoked_at IS NULL RETURNING public_id

-- name: drop_expired_user_tokens
DELETE FROM user_token WHERE id IN (
  SELECT id FROM user_token WHERE expires_at < statement_timestamp() - make_interval(secs => $1::float8)
  ORDER BY expires_at LIMIT 1000)

-- name: drop_tokens_of_user
DELETE FROM user_token WHERE user_id = $1
