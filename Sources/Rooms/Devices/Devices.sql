-- fragment: device_columns
device.id, device.user_id, device.token, device.provider, device.address, device.p256dh, device.auth, device.locale, device.zone,
  array_to_string(device.kinds, ' ') AS kinds, device.quiet_from, device.quiet_until, device.registered_at, device.last_outcome,
  device.last_outcome_at, device.environment, device.is_data, array_to_string(device.silent_kinds, ' ') AS silent_kinds

-- name: devices
SELECT {device_columns} FROM device WHERE user_id = $1 ORDER BY id

-- name: devices_by_user
SELECT {device_columns} FROM device WHERE user_id = $1 AND id > $2::bigint ORDER BY id LIMIT $3::int

-- name: lock_device
SELECT {device_columns} FROM device WHERE user_id = $1 AND token = $2 FOR UPDATE

-- name: lock_address
-- Two users who register one device at once.
SELECT pg_advisory_xact_lock(hashtextextended($1 || ':' || $2, 4))

-- name: drop_device
DELETE FROM device WHERE user_id = $1 AND token = $2

-- name: drop_other_device
-- The device has another user now, or another name.
DELETE FROM device WHERE provider = $3 AND address = $4 AND NOT (user_id = $1 AND token = $2)

-- name: save_device
INSERT INTO device AS device (user_id, token, provider, address, p256dh, auth, shard, locale, zone, kinds, quiet_from, quiet_until,
  credential, api_key_id, environment, is_data, silent_kinds, seen)
VALUES ($1, $2, $3, $4, $5, $6, $7::smallint, $8, $9, $10::text[], $11::smallint, $12::smallint, $13::uuid, $14::bigint, $15, $16::boolean,
  $17::text[], coalesce((SELECT last FROM user_event_count WHERE user_id = $1), 0))
ON CONFLICT (user_id, token) DO UPDATE SET provider = excluded.provider, address = excluded.address, p256dh = excluded.p256dh,
  auth = excluded.auth, shard = excluded.shard, locale = excluded.locale, zone = excluded.zone, kinds = excluded.kinds,
  quiet_from = excluded.quiet_from, quiet_until = excluded.quiet_until, credential = excluded.credential,
  api_key_id = excluded.api_key_id, environment = excluded.environment, is_data = excluded.is_data,
  silent_kinds = excluded.silent_kinds, registered_at = excluded.registered_at, seen = excluded.seen, refusals = 0
RETURNING {device_columns}

-- name: drop_surplus_devices
-- Those beyond the limits that were registered first; browsers have one of their own.
DELETE FROM device WHERE id IN (
  SELECT id FROM (
    SELECT id, row_number() OVER (ORDER BY registered_at DESC, id DESC) AS place,
      row_number() OVER (PARTITION BY provider ORDER BY registered_at DESC, id DESC) AS place_at_provider, provider
    FROM device WHERE user_id = $1) AS ranked
  WHERE place > $2::int OR provider = ANY ($4::text[]) AND place_at_provider > $3::int)

-- name: drop_devices_of_user
DELETE FROM device WHERE user_id = $1

-- name: drop_devices_of_credentials
DELETE FROM device WHERE credential = ANY ($1::uuid[])

-- name: registering_keys
-- The API keys, among those given, that have registered a device.
SELECT id FROM unnest($1::bigint[]) AS key (id) WHERE EXISTS (SELECT FROM device WHERE device.api_key_id = key.id)

-- name: device_counts
SELECT provider, coalesce(last_outcome, 'none') AS outcome, count(*) AS devices FROM device GROUP BY 1, 2 ORDER BY 1, 2

-- name: save_provider
INSERT INTO push_provider (provider, public_key, seen_at) VALUES ($1, $2, clock_timestamp())
ON CONFLICT (provider) DO UPDATE SET public_key = excluded.public_key, seen_at = excluded.seen_at

-- fragment: wanted
-- The kinds of events that are sent, with their lifetimes in seconds, and the devices that want one.
unnest($3::text[], $4::bigint[]) AS sent (kind, lifetime)
JOIN user_event AS event ON event.kind = sent.kind AND event.position BETWEEN $1::bigint AND $2::bigint AND NOT event.is_late

-- fragment: wants(device)
({device}.kinds IS NULL OR event.kind = ANY ({device}.kinds) OR event.kind = ANY ({device}.silent_kinds))
  AND {device}.provider IN (SELECT provider FROM push_provider WHERE seen_at > least(event.created_at, clock_timestamp()) - interval '1 hour')

-- fragment: expiry
least(event.created_at + make_interval(secs => sent.lifetime), finite_time(coalesce(event.data ->> 'closes_at', event.data ->> 'expires_at')))

-- name: insert_deliveries
INSERT INTO push_delivery (device_id, position, shard, expires_at)
SELECT device.id, event.position, device.shard, {expiry} FROM {wanted} JOIN device ON device.user_id = event.user_id AND {wants(device)}
ON CONFLICT DO NOTHING

-- name: insert_broadcasts
-- What the service says to everybody: each shard passes it on by itself.
INSERT INTO push_broadcast (shard, position, expires_at, last)
SELECT shards.shard, event.position, {expiry}, (SELECT max(id) FROM device WHERE device.shard = shards.shard)
FROM {wanted}, generate_series(0, $6::int - 1) AS shards (shard)
WHERE event.user_id = $5 AND EXISTS (SELECT FROM device WHERE device.shard = shards.shard)
  AND EXISTS (SELECT FROM push_provider WHERE seen_at > least(event.created_at, clock_timestamp()) - interval '1 hour')
ON CONFLICT DO NOTHING

-- name: next_broadcast
-- That of a shard which expires first: a window does not wait for a message of the operator's. A single attempt reads it.
SELECT position, after, last FROM push_broadcast WHERE shard = $1::smallint AND expires_at > clock_timestamp() ORDER BY expires_at, position LIMIT 1

-- name: drop_expired_broadcasts
-- Without a worker that has credentials none is passed on.
DELETE FROM push_broadcast WHERE expires_at <= clock_timestamp()

-- name: continue_broadcast
-- Passes one on to the next $5 devices of its shard; returns the last of them, NULL if they were all.
WITH page AS MATERIALIZED (
  SELECT id, kinds, silent_kinds, provider FROM device WHERE shard = $1::smallint AND id > $3::bigint AND id <= $4::bigint ORDER BY id LIMIT $5::int
  -- No device goes before its row is there.
  FOR KEY SHARE),
inserted AS (
  INSERT INTO push_delivery (device_id, position, shard, expires_at)
  SELECT page.id, event.position, broadcast.shard, broadcast.expires_at
  FROM push_broadcast AS broadcast JOIN user_event AS event ON event.position = broadcast.position JOIN page ON {wants(page)}
  WHERE broadcast.shard = $1::smallint AND broadcast.position = $2::bigint AND broadcast.expires_at > clock_timestamp()
  ON CONFLICT DO NOTHING)
SELECT CASE WHEN count(*) = $5::int THEN max(id) END AS after FROM page

-- name: move_broadcast
UPDATE push_broadcast SET after = $3::bigint WHERE shard = $1::smallint AND position = $2::bigint

-- name: end_broadcast
DELETE FROM push_broadcast WHERE shard = $1::smallint AND position = $2::bigint

-- name: shards
-- Whether something is due in each shard, and the seconds until something else is.
SELECT shard, EXISTS (SELECT FROM push_delivery WHERE push_delivery.shard = shards.shard AND next_at <= now())
    OR EXISTS (SELECT FROM push_broadcast WHERE push_broadcast.shard = shards.shard AND push_broadcast.expires_at > now()) AS is_due, (
    SELECT extract(epoch FROM next_at - now())::float8 FROM push_delivery
    WHERE push_delivery.shard = shards.shard AND next_at > now() ORDER BY next_at LIMIT 1) AS seconds
FROM generate_series(0, $1::int - 1) AS shards (shard)

-- name: oldest_due
-- How long what is due in each shard has waited, in seconds, and whether something is.
SELECT device.provider, extract(epoch FROM clock_timestamp() - oldest.next_at)::float8 AS seconds
FROM generate_series(0, $1::int - 1) AS shards (shard) CROSS JOIN LATERAL (
  SELECT device_id, next_at FROM push_delivery WHERE push_delivery.shard = shards.shard ORDER BY next_at LIMIT 1) AS oldest
JOIN device ON device.id = oldest.device_id

-- name: has_due_delivery
SELECT EXISTS (SELECT FROM push_delivery WHERE shard = $1::smallint AND next_at <= clock_timestamp())
  OR EXISTS (SELECT FROM push_broadcast WHERE shard = $1::smallint AND expires_at > clock_timestamp()) AS is_due

-- fragment: unsent(devices, positions)
-- What is due in a shard and not sent already, the first of it first.
shard = $1::smallint AND next_at <= clock_timestamp()
  AND (device_id, position) NOT IN (SELECT * FROM unnest({devices}::bigint[], {positions}::bigint[])) ORDER BY next_at, device_id, position

-- fragment: quiet_end(device)
-- The end of the quiet hours that a device has now. NULL: it has none now, or the server does not know its zone.
CASE WHEN {device}.quiet_from IS NOT NULL THEN (
  SELECT instant_of(local::date + CASE WHEN minute >= {device}.quiet_until THEN 1 ELSE 0 END
    + make_interval(mins => {device}.quiet_until), {device}.zone, NULL)
  FROM (SELECT local_time(clock_timestamp(), {device}.zone, NULL) AS local) AS time,
    LATERAL (SELECT extract(hour FROM local) * 60 + extract(minute FROM local) AS minute) AS day
  WHERE CASE WHEN {device}.quiet_from < {device}.quiet_until
    THEN minute >= {device}.quiet_from AND minute < {device}.quiet_until
    ELSE minute >= {device}.quiet_from OR minute < {device}.quiet_until END) END

-- name: due_deliveries(limit)
-- A page of what is due in a shard, with what it says. Visibility and blocks are judged here. The planner knows the number of rows. Of what
-- has waited and folds, the newest that is shown says how many acts they are.
SELECT read.*, fold IS NOT NULL AND is_shown AND position < max(position) FILTER (WHERE is_shown) OVER alike AS is_folded,
  CASE WHEN fold IS NULL THEN acts ELSE coalesce(sum(acts) FILTER (WHERE is_shown) OVER alike, 1) END::int AS count
FROM (SELECT delivery.device_id, delivery.position, delivery.attempts, extract(epoch FROM delivery.expires_at)::bigint AS expires_at,
  extract(epoch FROM {quiet_end(device)})::bigint AS quiet_end,
  CASE WHEN device.quiet_from IS NOT NULL AND local_time(statement_timestamp(), device.zone, NULL) IS NULL THEN device.zone END AS unknown_zone,
  device.user_id, device.provider, device.address, device.p256dh, device.auth, device.locale, device.environment, device.is_data,
  coalesce(event.kind = ANY (device.silent_kinds), false) AS is_silent, delivery.next_at,
  CASE WHEN delivery.has_waited AND event.kind = ANY ($6::text[]) THEN event.kind || ' ' || coalesce(event.data ->> 'collection', event.post::text) END
    AS fold,
  coalesce(delivery.acts, CASE WHEN event.data ->> 'count' ~ '^[0-9]{1,8}$' THEN (event.data ->> 'count')::int ELSE 1 END) AS acts,
  post.title, post.kind AS post_kind, post.place_name AS place, post.visibility,
  event.data ->> 'closes_at' AS closes_at, event.data ->> 'url' AS url, event.data ->> 'texts' AS texts,
  event.kind, event.actor, event.post, event.subject, CASE WHEN event.user_id = device.user_id THEN (
    SELECT count(*) FROM (
      SELECT FROM user_event AS unseen WHERE unseen.user_id = device.user_id AND unseen.number > device.seen AND unseen.number <= event.number
        AND unseen.kind <> ALL ($3::text[]) LIMIT 999) AS unseen) END AS badge,
  extract(epoch FROM delivery.expires_at - event.created_at)::float8 AS seconds,
  coalesce(actor.name, actor.user_name, event.actor) AS name, 
  CASE WHEN length(comment.text) > 200 THEN left(comment.text, 199) || '…' ELSE comment.text END AS text, collection.name AS collection,
  collection.public_id AS collection_id, comment.public_id AS comment_id, image.public_id AS image_id,
  post.reasons -> 0 ->> 'detail' AS reason, post.reasons -> 0 ->> 'code' AS reason_code,
  picture.public_id AS picture, coalesce({is_public(post)}, false) AS is_public,
  device.credential, device.api_key_id, api_key.hash AS key_hash, api_key.revoked_at IS NULL AS has_key,
  device.credential IS NULL OR token.revoked_at IS NULL AND token.expires_at > clock_timestamp() AND api_key.revoked_at IS NULL
    AS is_signed_in,
  event.position IS NOT NULL AND event.kind <> 'forgotten'
    AND (event.actor IS NULL OR {unblocked(event.actor, device.user_id)})
    AND (event.post IS NULL
      OR post.id IS NOT NULL AND {visible(post.author, post.visibility, post.moderation, post.status, device.user_id)})
    AND (event.subject IS NULL OR event.kind = 'message' OR num_nonnulls(comment.id, image.id, collection.id) > 0)
    AND (comment.id IS NULL OR {shown(comment, device.user_id)})
    AND (image.id IS NULL OR {shown_image(image, device.user_id)})
    AND (collection.id IS NULL OR collection.author = device.user_id
      OR NOT collection.is_hidden AND {unblocked(collection.author, device.user_id)} AND EXISTS (
        SELECT FROM collection_member AS member
        WHERE member.collection_id = collection.id AND member.user_id = device.user_id
          AND (comment.id IS NULL OR member.state = 'accepted'))) AS is_shown
FROM (
  SELECT device_id, position, attempts, expires_at, next_at, has_waited, acts FROM push_delivery
  WHERE {unsent($4, $5)} LIMIT {limit}) AS delivery
JOIN device ON device.id = delivery.device_id
LEFT JOIN user_token AS token ON token.public_id = device.credential
LEFT JOIN api_key ON api_key.id = coalesce(device.api_key_id, token.api_key_id)
LEFT JOIN user_event AS event ON event.position = delivery.position
LEFT JOIN app_user AS actor ON actor.id = event.actor
LEFT JOIN post ON post.public_id = event.post
LEFT JOIN comment ON comment.public_id = event.subject
LEFT JOIN image ON image.public_id = event.subject
LEFT JOIN collection
  ON collection.id = coalesce(comment.collection_id, (SELECT id FROM collection AS shared WHERE shared.public_id = event.subject))
LEFT JOIN LATERAL (
  SELECT public_id FROM asset
  WHERE asset_set_id = coalesce(image.asset_set_id, CASE WHEN post.look IS NULL THEN post.asset_set_id END) AND place = 0 AND role = ANY ($2::text[])
  ORDER BY array_position($2::text[], role) LIMIT 1) AS picture ON true) AS read
WINDOW alike AS (PARTITION BY device_id, fold)
ORDER BY next_at, device_id, position

-- name: set_aside_delivery
-- The first of a page, which holds up the others.
UPDATE push_delivery SET next_at = clock_timestamp() + make_interval(secs => $4::int)
WHERE (device_id, position) = (SELECT device_id, position FROM push_delivery WHERE {unsent($2, $3)} LIMIT 1)
RETURNING device_id, position

-- name: drop_deliveries
DELETE FROM push_delivery USING unnest($1::bigint[], $2::bigint[]) AS ended (device_id, position)
WHERE push_delivery.device_id = ended.device_id AND push_delivery.position = ended.position

-- name: postpone_deliveries
-- The times are in seconds since 1970-01-01 UTC.
UPDATE push_delivery SET next_at = to_timestamp(later.at), attempts = push_delivery.attempts + later.attempts, has_waited = true, acts = later.acts
FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::int[], $5::int[]) AS later (device_id, position, at, attempts, acts)
WHERE push_delivery.device_id = later.device_id AND push_delivery.position = later.position

-- name: drop_gone_devices
-- A device that was registered after the time at which the provider missed it stays.
DELETE FROM device USING unnest($1::bigint[], $2::bigint[]) AS gone (id, since)
WHERE device.id = gone.id AND (gone.since IS NULL OR device.registered_at <= to_timestamp(least(gone.since, 253402300799)))

-- name: note_outcomes
WITH noted AS (
  SELECT DISTINCT ON (id) id, outcome FROM unnest($1::bigint[], $2::text[]) AS given (id, outcome) ORDER BY id),
-- In the order in which others lock several.
held AS MATERIALIZED (SELECT device.id FROM device JOIN noted ON noted.id = device.id ORDER BY device.id FOR NO KEY UPDATE OF device)
UPDATE device SET last_outcome = noted.outcome, last_outcome_at = clock_timestamp(),
  -- Where a provider refuses every device, the credentials, the environment or the clock are wrong: it must have reached one in between.
  refusals = CASE noted.outcome WHEN 'delivered' THEN 0 WHEN 'device_refused' THEN refusals + (
      SELECT count(*) FROM push_provider
      WHERE push_provider.provider = device.provider AND reached_at > coalesce(device.last_outcome_at, device.registered_at))
    ELSE refusals END
FROM held JOIN noted ON noted.id = held.id
WHERE device.id = held.id

-- name: drop_refused_devices
DELETE FROM device WHERE id = ANY ($1::bigint[]) AND refusals >= $2::int

-- name: note_reached
-- Once a minute: every page of deliveries would wait for this row.
UPDATE push_provider SET reached_at = clock_timestamp()
WHERE provider = ANY ($1::text[]) AND (reached_at IS NULL OR reached_at < clock_timestamp() - interval '1 minute')

-- name: lock_message
SELECT pg_advisory_xact_lock(hashtextextended('message:' || $1, 4))

-- name: message
SELECT FROM user_event WHERE user_id = $1 AND kind = 'message' AND subject = $2::uuid

-- name: web_push_key
SELECT public_key FROM push_provider WHERE provider = 'web_push' AND seen_at > clock_timestamp() - interval '1 hour'
