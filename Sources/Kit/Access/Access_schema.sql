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

-- Tickets by which a web page opens its stream of events. A ticket is stored as its hash, and deleted when it is used.
CREATE TABLE event_ticket (
  hash bytea PRIMARY KEY CHECK (length(hash) = 32),
  user_id text NOT NULL,
  -- The credential of the client that got it: a user token, or as in user_token.
  token uuid,
  minter text NOT NULL,
  api_key_id bigint REFERENCES api_key,
  expires_at timestamptz NOT NULL,
  CHECK ((api_key_id IS NOT NULL) = (minter = 'key'))
);
CREATE INDEX event_ticket_age ON event_ticket (expires_at);
