-- Codes that a user receives by mail. A later one replaces the former.
CREATE TABLE one_time_code (
  user_id text NOT NULL REFERENCES account ON DELETE CASCADE,
  -- The kind of the event that carries it.
  purpose text NOT NULL,
  hash bytea NOT NULL CHECK (length(hash) = 32),
  -- The address that it was for.
  email text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (user_id, purpose)
);
-- The events with a code, which they lose when it expires.
CREATE INDEX user_event_code ON user_event (created_at)
WHERE kind IN ('account_verification_requested', 'password_reset_requested') AND data IS NOT NULL;
