-- Endpoints of the back-ends of apps, to which events are sent.
CREATE TABLE webhook (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE,
  url text NOT NULL,
  -- The kinds of the events that it gets.
  kinds text[] NOT NULL CHECK (cardinality(kinds) > 0),
  secret bytea NOT NULL CHECK (length(secret) BETWEEN 24 AND 64),
  -- The secret before that, with which messages are signed too until the time.
  former_secret bytea,
  former_until timestamptz,
  disabled_at timestamptz,
  disabled_cause text,
  -- The first failure after which nothing succeeded, and the number of turns that failed since.
  failing_since timestamptz,
  failures int NOT NULL DEFAULT 0,
  -- Nothing is sent before.
  next_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  CHECK ((former_secret IS NULL) = (former_until IS NULL)),
  CHECK ((disabled_at IS NULL) = (disabled_cause IS NULL))
);

-- The messages of each endpoint. One is made from its event when it is sent: what the event no longer says is not sent.
CREATE TABLE webhook_delivery (
  webhook_id bigint NOT NULL REFERENCES webhook ON DELETE CASCADE,
  -- That of the event, which may be gone.
  position bigint NOT NULL,
  -- A hash of what the event is about: the messages with one are sent one after the other.
  order_key bigint NOT NULL,
  state text NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  attempts int NOT NULL DEFAULT 0,
  -- When it is sent. NULL: it waits for one before it, or is not sent any more.
  next_at timestamptz CHECK (state = 'pending' OR next_at IS NULL),
  tried_at timestamptz,
  -- The status of the last response, and why the attempt failed.
  status int,
  error text,
  PRIMARY KEY (webhook_id, position)
);
CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook_id, next_at, position) WHERE next_at IS NOT NULL;
CREATE INDEX webhook_delivery_order ON webhook_delivery (webhook_id, order_key, position) WHERE state = 'pending';
CREATE INDEX webhook_delivery_open ON webhook_delivery (webhook_id, position) WHERE state <> 'delivered';
