-- Addresses that their users have shown to read. One that changes in more than the case of its letters has to be shown again, and the
-- codes for it are gone.
ALTER TABLE app_user ADD COLUMN email_verified_at timestamptz;
ALTER TABLE app_user ADD CONSTRAINT app_user_verified CHECK (email_verified_at IS NULL OR email IS NOT NULL);
-- By the same rule as user names: an address that is verified has one user.
CREATE UNIQUE INDEX app_user_verified_email ON app_user (lower(email COLLATE "C")) WHERE email_verified_at IS NOT NULL;
CREATE FUNCTION unverify_email() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.email_verified_at := NULL;
  DELETE FROM one_time_code WHERE user_id = NEW.id;
  RETURN NEW;
END $$;
CREATE TRIGGER app_user_readdressed BEFORE UPDATE OF email ON app_user FOR EACH ROW
  WHEN (lower(NEW.email COLLATE "C") IS DISTINCT FROM lower(OLD.email COLLATE "C")) EXECUTE FUNCTION unverify_email();

-- How often a code was tried, right or wrong.
ALTER TABLE one_time_code ADD COLUMN attempts int NOT NULL DEFAULT 0;

-- What the user calls the device that signed in.
ALTER TABLE user_token ADD COLUMN device text;
-- When a request last used the token, to the hour. NULL: none has.
ALTER TABLE user_token ADD COLUMN last_used_at timestamptz;

-- Sessions that go on by refresh tokens, of which each is used once. The row in user_token is the session; its hash is that of
-- the part that all of its refresh tokens have in common, and its expiry comes unless the session is renewed before.
CREATE TABLE renewable_session (
  token_id bigint PRIMARY KEY REFERENCES user_token ON DELETE CASCADE,
  -- What the tokens of the next renewal are derived with, so that a repeated request gets the same ones.
  secret bytea NOT NULL CHECK (length(secret) = 32),
  -- The hashes of the refresh token that renews the session, and of the one before. NULL: there was none.
  current bytea NOT NULL CHECK (length(current) = 32),
  former bytea CHECK (length(former) = 32),
  renewed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The lifetime of an access token.
  seconds int NOT NULL,
  -- When the session ends, however often it is renewed.
  ends_at timestamptz NOT NULL
);

-- The access tokens of such sessions: the newest and the one before it.
CREATE TABLE access_token (
  hash bytea PRIMARY KEY CHECK (length(hash) = 32),
  token_id bigint NOT NULL REFERENCES renewable_session ON DELETE CASCADE,
  number bigint GENERATED ALWAYS AS IDENTITY,
  expires_at timestamptz NOT NULL
);
CREATE INDEX access_token_session ON access_token (token_id, number);

-- The thumbprint of the key by which an identity provider vouches for the client, and until when, in seconds since 1970-01-01 UTC.
-- NULL: the client had another credential.
ALTER TABLE event_ticket ADD COLUMN signer bytea CHECK (length(signer) = 32);
ALTER TABLE event_ticket ADD COLUMN signer_expires bigint;
