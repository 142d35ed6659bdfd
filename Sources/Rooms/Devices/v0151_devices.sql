-- The phones and browsers of users, and the notifications that they are to be sent.
CREATE TABLE device (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  user_id text NOT NULL,
  -- Its name in paths: the token of the provider, or what the app calls a subscription of a browser.
  token text NOT NULL,
  provider text NOT NULL CHECK (provider IN ('apns', 'fcm', 'web_push')),
  -- The token, or the endpoint of the subscription. It has one row: that of the user who has registered it last.
  address text NOT NULL,
  -- The keys of a subscription (RFC 8291).
  p256dh text,
  auth text,
  -- Which job sends to it: servers that users name have one of their own.
  shard smallint NOT NULL,
  locale text,
  zone text,
  -- NULL: all.
  kinds text[],
  -- Minutes of the day in the zone. NULL: none.
  quiet_from smallint,
  quiet_until smallint,
  -- The user token that registered it, with which it goes. NULL: another credential.
  credential uuid REFERENCES user_token (public_id) ON DELETE CASCADE,
  -- The API key that did. NULL: another credential.
  api_key_id bigint REFERENCES api_key,
  registered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- The number of the user's last event then: the badge counts those since.
  seen bigint NOT NULL,
  last_outcome text,
  last_outcome_at timestamptz,
  -- How often in a row the provider has refused it.
  refusals int NOT NULL DEFAULT 0,
  UNIQUE (provider, address),
  UNIQUE (user_id, token),
  CHECK ((p256dh IS NOT NULL AND auth IS NOT NULL) = (provider = 'web_push')),
  CHECK ((quiet_from IS NULL) = (quiet_until IS NULL) AND (quiet_from IS NULL OR zone IS NOT NULL))
) WITH (fillfactor = 80);
CREATE INDEX device_credential ON device (credential) WHERE credential IS NOT NULL;

-- What is to be sent: what it says is read then, so that visibility and blocks are those of that time.
CREATE TABLE push_delivery (
  device_id bigint NOT NULL REFERENCES device ON DELETE CASCADE,
  -- Of the event.
  position bigint NOT NULL,
  shard smallint NOT NULL,
  expires_at timestamptz NOT NULL,
  next_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  attempts int NOT NULL DEFAULT 0,
  PRIMARY KEY (device_id, position)
);
CREATE INDEX push_delivery_next ON push_delivery (shard, next_at);

-- The providers that workers have credentials of, who say so again and again.
CREATE TABLE push_provider (
  provider text PRIMARY KEY,
  -- What browsers subscribe with (RFC 8292).
  public_key text,
  seen_at timestamptz NOT NULL
);
