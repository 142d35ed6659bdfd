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
