-- Who may send requests, and for what. A key is stored as its hash.
CREATE TABLE api_key (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text NOT NULL,
  hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  scopes text[] NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  revoked_at timestamptz
);

-- What media URLs are signed with: the newest signs, all that are here admit.
CREATE TABLE signing_key (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  secret bytea NOT NULL CHECK (length(secret) = 32),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When a secret that no longer signs ceases to admit. NULL: it signs.
  retires_at timestamptz
);

-- Tokens that act as one user each. A token is stored as its hash.
CREATE TABLE user_token (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  user_id text NOT NULL,
  hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  -- Who minted it: 'key' is the API key of the next column, 'operator' the operator's key, 'anybody' a client of a service
  -- that needed no key, 'account' the user, who has signed in.
  minter text NOT NULL,
  api_key_id bigint REFERENCES api_key,
  -- The one submission that the token is limited to. NULL: it is not limited.
  upload_grant jsonb,
  -- When that submission was stored.
  used_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  expires_at timestamptz NOT NULL,
  revoked_at timestamptz,
  CHECK ((api_key_id IS NOT NULL) = (minter = 'key'))
);
CREATE INDEX user_token_user ON user_token (user_id, created_at DESC, id DESC);
CREATE INDEX user_token_expiry ON user_token (expires_at);

-- Users who sign in with a password.
CREATE TABLE account (
  user_id text PRIMARY KEY REFERENCES app_user ON DELETE CASCADE,
  -- Argon2id with its parameters and salt.
  password_hash text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When the password was set.
  changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Since when the user cannot sign in. NULL: the user can.
  disabled_at timestamptz
);
CREATE INDEX account_created ON account (created_at DESC, user_id);
