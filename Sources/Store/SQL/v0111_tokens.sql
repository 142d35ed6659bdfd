-- Tokens that act as one user each. A token is stored as its hash.
CREATE TABLE user_token (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  user_id text NOT NULL,
  hash bytea NOT NULL UNIQUE CHECK (length(hash) = 32),
  -- Who minted it: 'key' is the API key of the next column, 'operator' the operator's key, 'anybody' a client of a service
  -- that needed no key.
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

-- Of the images of an itinerary, of any status: a user changes only those of their own.
CREATE INDEX image_itinerary ON image (owner) WHERE kind = 'itinerary';
