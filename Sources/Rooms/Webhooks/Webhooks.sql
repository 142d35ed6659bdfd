-- Webhooks.

-- fragment: webhook_columns
webhook.id, webhook.public_id, url, array_to_string(kinds, ' ') AS kinds, headers, disabled_at, disabled_cause, failing_since,
  webhook.created_at

-- fragment: test_key(endpoint)
-- What the test messages to an endpoint are about.
hashtextextended('test ' || {endpoint}, 0)

-- fragment: first_pending
-- The oldest message that waits, of what the messages at the positions $2 are about.
SELECT first.position FROM (
  SELECT DISTINCT order_key FROM webhook_delivery WHERE webhook_id = $1::bigint AND position = ANY ($2::bigint[])) AS named
CROSS JOIN LATERAL (
  SELECT position FROM webhook_delivery
  WHERE webhook_id = $1::bigint AND order_key = named.order_key AND state = 'pending'
  ORDER BY position LIMIT 1) AS first

-- fragment: is_replayable
-- One-time codes are dropped with the first end of their message.
NOT (user_event.kind = ANY ($3::text[]) AND user_event.data IS NULL)

-- name: insert_webhook
INSERT INTO webhook (public_id, url, kinds, secret, headers) VALUES ($1::uuid, $2, $3::text[], $4, $5::jsonb)

-- name: webhook
SELECT {webhook_columns} FROM webhook WHERE public_id = $1::uuid AND deleted_at IS NULL

-- name: webhooks
SELECT {webhook_columns} FROM webhook
WHERE deleted_at IS NULL AND (created_at, id) < ($1::timestamptz, $2::bigint) ORDER BY created_at DESC, id DESC LIMIT $3::int

-- name: lock_webhook
-- Messages are added, and their outcomes recorded, by the holder of the lock.
SELECT id FROM webhook WHERE public_id = $1::uuid AND deleted_at IS NULL FOR NO KEY UPDATE

-- name: change_webhook
-- One that is enabled, or has another URL, begins without failures.
UPDATE webhook SET url = $2, kinds = $3::text[], headers = $5::jsonb,
  disabled_at = CASE WHEN $4::text IS NOT NULL THEN coalesce(disabled_at, clock_timestamp()) END, disabled_cause = $4,
  failing_since = NULL, failures = 0, next_at = clock_timestamp()
WHERE public_id = $1::uuid

-- name: start_all
-- Of one that was disabled, old messages may have been deleted before those that wait for them.
UPDATE webhook_delivery SET next_at = clock_timestamp() WHERE webhook_id = $1::bigint AND position IN (
  SELECT DISTINCT ON (order_key) position FROM webhook_delivery
  WHERE webhook_id = $1::bigint AND state = 'pending' ORDER BY order_key, position)

-- name: rotate_secret
UPDATE webhook SET former_secret = secret, former_until = clock_timestamp() + interval '24 hours', secret = $2
WHERE public_id = $1::uuid RETURNING id

-- name: delete_webhook
-- One that is disabled gets nothing, and no statement about messages waits for it. What is secret goes at once, its messages later: see
-- drop_old_deliveries.
UPDATE webhook SET deleted_at = clock_timestamp(), disabled_at = coalesce(disabled_at, clock_timestamp()),
  disabled_cause = coalesce(disabled_cause, 'operator'), url = '', headers = '{}', secret = decode(repeat('00', 32), 'hex'),
  former_secret = NULL, former_until = NULL
WHERE public_id = $1::uuid

-- name: lock_webhooks
SELECT id FROM webhook WHERE disabled_at IS NULL ORDER BY id FOR NO KEY UPDATE

-- name: receive
-- A statement of its own after the locks: it sees which messages still wait.
INSERT INTO webhook_delivery (webhook_id, position, order_key, next_at)
SELECT webhook.id, event.position, event.order_key, CASE
  WHEN NOT EXISTS (
      SELECT FROM webhook_delivery AS before
      WHERE before.webhook_id = webhook.id AND before.order_key = event.order_key AND before.state = 'pending')
    AND row_number() OVER (PARTITION BY webhook.id, event.order_key ORDER BY event.position) = 1
  THEN clock_timestamp() END
FROM webhook JOIN (
  SELECT position, kind, hashtextextended(coalesce(post::text, subject::text, user_id), 0) AS order_key
  FROM user_event WHERE position BETWEEN $1::bigint AND $2::bigint AND NOT is_late) AS event ON event.kind = ANY (webhook.kinds)
WHERE webhook.disabled_at IS NULL

-- name: due_webhooks
-- Each endpoint with something to send, and the time until it is due.
SELECT public_id, extract(epoch FROM greatest(webhook.next_at, first.next_at) - clock_timestamp())::float8 AS seconds
FROM webhook CROSS JOIN LATERAL (
  SELECT next_at FROM webhook_delivery WHERE webhook_id = webhook.id AND next_at IS NOT NULL ORDER BY next_at LIMIT 1) AS first
WHERE disabled_at IS NULL

-- name: sender
-- An endpoint with its secrets, if something may be sent to it.
SELECT id, url, headers, secret, CASE WHEN former_until > clock_timestamp() THEN former_secret END AS former_secret, failures
FROM webhook WHERE public_id = $1::uuid AND disabled_at IS NULL AND next_at <= clock_timestamp()

-- name: messages
-- The event is NULL where it is gone, or says nothing any more, as one whose code has expired.
SELECT delivery.position, delivery.attempts, user_event.position AS number, kind, actor, post, subject, data, user_event.created_at, user_id
FROM webhook_delivery AS delivery
LEFT JOIN user_event ON user_event.position = delivery.position AND kind <> 'forgotten' AND {is_replayable}
WHERE delivery.webhook_id = $1::bigint AND delivery.next_at <= clock_timestamp()
ORDER BY delivery.next_at, delivery.position LIMIT $2::int

-- name: lock_sender
SELECT failures, disabled_at IS NOT NULL AS is_disabled, extract(epoch FROM clock_timestamp() - failing_since)::float8 AS failing_seconds FROM webhook
WHERE id = $1::bigint FOR NO KEY UPDATE

-- name: record_outcomes
UPDATE webhook_delivery AS delivery SET state = outcome.state, attempts = delivery.attempts + outcome.attempts, tried_at = clock_timestamp(),
  next_at = clock_timestamp() + make_interval(secs => pause), status = outcome.status, error = outcome.error
FROM unnest($2::bigint[], $3::text[], $4::float8[], $5::int[], $6::text[], $7::int[]) AS outcome (position, state, pause, status, error, attempts)
WHERE webhook_id = $1::bigint AND delivery.position = ANY ($2::bigint[]) AND delivery.position = outcome.position
  AND delivery.state = 'pending'

-- name: start_next
-- An array: a plan that was made for a small table must not join all that waits with it.
UPDATE webhook_delivery SET next_at = clock_timestamp()
WHERE webhook_id = $1::bigint AND next_at IS NULL AND position = ANY (ARRAY ({first_pending}))

-- name: stop_others
UPDATE webhook_delivery SET next_at = NULL
WHERE webhook_id = $1::bigint AND next_at IS NOT NULL
  AND order_key IN (SELECT order_key FROM webhook_delivery WHERE webhook_id = $1::bigint AND position = ANY ($2::bigint[]))
  AND position <> ALL (ARRAY ({first_pending}))

-- name: drop_codes
-- No endpoint waits for them any more.
UPDATE user_event SET data = NULL WHERE position = ANY ($1::bigint[]) AND kind = ANY ($2::text[]) AND data IS NOT NULL
  AND NOT EXISTS (
    SELECT FROM webhook JOIN webhook_delivery ON webhook_id = webhook.id AND webhook_delivery.position = user_event.position
    WHERE state = 'pending' AND deleted_at IS NULL)

-- name: record_turn
-- $2: the failures in a row; 0: the last turn succeeded. $4: why the endpoint is disabled; NULL: it is not.
UPDATE webhook SET failures = $2::int,
  failing_since = CASE WHEN $2::int > 0 THEN coalesce(failing_since, clock_timestamp()) END,
  next_at = clock_timestamp() + make_interval(secs => $3::float8),
  disabled_at = CASE WHEN $4::text IS NOT NULL THEN clock_timestamp() END, disabled_cause = $4
WHERE id = $1::bigint RETURNING public_id

-- name: deliveries(condition)
SELECT delivery.position, state, attempts, status, error, tried_at,
  CASE WHEN delivery.next_at IS NOT NULL THEN greatest(delivery.next_at, webhook.next_at) END AS next_at, kind, user_event.created_at
FROM webhook JOIN webhook_delivery AS delivery ON delivery.webhook_id = webhook.id
LEFT JOIN user_event ON user_event.position = delivery.position
WHERE webhook.public_id = $1::uuid AND delivery.position < $2::bigint AND {condition}
ORDER BY delivery.position DESC LIMIT $3::int

-- name: waiting_test
-- The oldest test message that waits for the endpoint $1, whose public id is $2.
SELECT delivery.position, user_event.created_at
FROM webhook_delivery AS delivery JOIN user_event ON user_event.position = delivery.position
WHERE webhook_id = $1::bigint AND order_key = {test_key($2::text)} AND state = 'pending' ORDER BY delivery.position LIMIT 1

-- name: recent_test
-- The test message of the last five seconds: an endpoint that waits before its next message is not called in a loop.
SELECT delivery.position, user_event.created_at
FROM webhook JOIN webhook_delivery AS delivery ON delivery.webhook_id = webhook.id AND delivery.order_key = {test_key($1::text)}
JOIN user_event ON user_event.position = delivery.position
WHERE webhook.public_id = $1::uuid AND user_event.user_id = $2 AND user_event.created_at > clock_timestamp() - interval '5 seconds'
ORDER BY delivery.position DESC LIMIT 1

-- name: insert_test
-- An event that has its position at once, so that no other endpoint gets it. The holder of the lock of positions calls it. The message goes
-- before all that waits for the endpoint.
WITH placed AS (UPDATE event_position SET last = last + 1 RETURNING last),
counted AS (
  INSERT INTO user_event_count AS count (user_id, last) VALUES ($3::text, 1)
  ON CONFLICT (user_id) DO UPDATE SET last = count.last + 1 RETURNING last),
event AS (
  INSERT INTO user_event (user_id, number, kind, data, position)
  SELECT $3::text, counted.last, $4::text, $5::jsonb, placed.last FROM counted, placed
  RETURNING position, created_at),
message AS (
  INSERT INTO webhook_delivery (webhook_id, position, order_key, next_at)
  SELECT $1::bigint, position, {test_key($2::text)}, least(clock_timestamp(), (
    SELECT next_at FROM webhook_delivery WHERE webhook_id = $1::bigint AND next_at IS NOT NULL ORDER BY next_at LIMIT 1)
  ) - interval '1 microsecond'
  FROM event)
SELECT position, created_at FROM event

-- name: resume
UPDATE webhook SET next_at = clock_timestamp() WHERE id = $1::bigint

-- name: replay
UPDATE webhook_delivery AS delivery SET state = 'pending', attempts = 0, next_at = NULL
FROM user_event WHERE delivery.webhook_id = $1::bigint AND delivery.position = $2::bigint AND state <> 'pending'
  AND user_event.position = delivery.position AND {is_replayable}
RETURNING delivery.position

-- name: replay_failed
-- The oldest, as many as one transaction takes: while it runs, the endpoint is locked.
UPDATE webhook_delivery AS delivery SET state = 'pending', attempts = 0, next_at = NULL
WHERE delivery.webhook_id = $1::bigint AND delivery.position = ANY (ARRAY (
  SELECT failed.position FROM webhook_delivery AS failed JOIN user_event ON user_event.position = failed.position
  WHERE failed.webhook_id = $1::bigint AND failed.state = 'failed' AND failed.state <> 'delivered'
    AND user_event.created_at >= $2::timestamptz AND user_event.kind <> $4::text AND {is_replayable}
  ORDER BY failed.position LIMIT 10000))
RETURNING delivery.position

-- name: drop_old_deliveries
-- Those whose events are gone, and all of deleted endpoints, a page of each endpoint. What another one still waits for ends by an attempt.
-- A deleted endpoint without messages goes too.
WITH emptied AS (
  DELETE FROM webhook WHERE deleted_at IS NOT NULL
    AND NOT EXISTS (SELECT FROM webhook_delivery WHERE webhook_id = webhook.id))
DELETE FROM webhook_delivery WHERE (webhook_id, position) IN (
  SELECT webhook.id, old.position FROM webhook CROSS JOIN LATERAL (
    SELECT position FROM webhook_delivery
    WHERE webhook_id = webhook.id
      AND position < CASE WHEN deleted_at IS NULL THEN (SELECT min(position) FROM user_event) ELSE 9223372036854775807 END
      AND (state <> 'pending' OR disabled_at IS NOT NULL)
    ORDER BY position LIMIT 1000) AS old)

-- name: blank_errors_about
-- What endpoints replied.
UPDATE webhook_delivery SET error = NULL WHERE (webhook_id, position) IN (
  SELECT webhook.id, user_event.position FROM user_event CROSS JOIN webhook
  JOIN webhook_delivery AS delivery ON webhook_id = webhook.id AND delivery.position = user_event.position
  WHERE (user_event.user_id = $1 OR user_event.actor = $1) AND error IS NOT NULL LIMIT $2::int)

-- name: waiting_webhooks
-- How long the oldest message of each endpoint has been due, in seconds, of the $1 that wait the longest.
SELECT public_id, extract(epoch FROM clock_timestamp() - first.next_at)::float8 AS seconds
FROM webhook CROSS JOIN LATERAL (
  SELECT next_at FROM webhook_delivery WHERE webhook_id = webhook.id AND next_at IS NOT NULL ORDER BY next_at LIMIT 1) AS first
WHERE disabled_at IS NULL AND first.next_at <= clock_timestamp() ORDER BY first.next_at LIMIT $1::int

-- name: failing_webhooks
SELECT count(*) AS number FROM webhook WHERE disabled_at IS NULL AND failures > 0
