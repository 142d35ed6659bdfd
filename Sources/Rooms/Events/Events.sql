-- name: last_events
-- A row without a user if none has an event. The history is the present one while nothing says that the database is another one.
SELECT counted.user_id, greatest(counted.last, history.after) AS last, event_position.last AS last_of_all,
  history.after AS history_after, history.window_before,
  coalesce(history.started = pg_postmaster_start_time() AND history.relation = history.tableoid, false) AS is_present
FROM event_position CROSS JOIN event_history AS history
LEFT JOIN (SELECT user_id, last FROM user_event_count WHERE user_id = ANY ($1::text[])) AS counted ON true

-- name: find_history
-- Before the lock of the positions, in a statement of its own: a history that begins sets them.
SELECT history_after()

-- name: continues_history
-- Whether the database continues the history of its row, and not another one that is to begin.
SELECT coalesce(server = server_history() AND relation = tableoid, false) AS is_same FROM event_history

-- name: continue_history
UPDATE event_history SET server = server_history(), started = pg_postmaster_start_time(), relation = tableoid

-- name: first_position
SELECT min(position) AS first FROM user_event WHERE position IS NOT NULL

-- name: events
-- What a user whom the reader has blocked since then caused is blank, as what a deleted user caused.
SELECT user_id, number, CASE WHEN {is_blocked(user_event.user_id, user_event.actor)} THEN 'forgotten' ELSE kind END AS kind, actor,
  post, subject, data, created_at
FROM user_event
WHERE user_id = $1 AND number > $2::bigint ORDER BY number LIMIT $3::int

-- name: events_of_all
SELECT user_id, position AS number, kind, actor, post, subject, data, created_at
FROM user_event WHERE position > $1::bigint ORDER BY position LIMIT $2::int

-- name: lock_positions
SELECT last FROM event_position FOR UPDATE

-- name: place_events
-- The events that have committed since. Of one instant they are in any order, but in the same one for all readers.
WITH unplaced AS (
  SELECT user_id, number, $1::bigint + row_number() OVER (ORDER BY created_at, user_id, number) AS position
  FROM user_event WHERE position IS NULL ORDER BY created_at, user_id, number LIMIT $2::int),
placed AS (
  UPDATE user_event SET position = unplaced.position FROM unplaced
  WHERE user_event.user_id = unplaced.user_id AND user_event.number = unplaced.number
  RETURNING user_event.position, user_event.is_late)
UPDATE event_position SET last = (SELECT max(position) FROM placed), late = late + (SELECT count(*) FROM placed WHERE is_late)
WHERE EXISTS (SELECT FROM placed) RETURNING last

-- fragment: is_set_aside(announcement)
EXISTS (
  SELECT FROM row_set_aside AS aside
  WHERE relation = 'announcement' AND row_key = {announcement}.id::text AND aside.until > clock_timestamp())

-- fragment: next_turn(flow)
-- The turn at which an announcement begins: after those of its flow, and not before what all have reached.
greatest(
    coalesce((SELECT waiting.turn FROM announcement AS waiting WHERE waiting.after IS NOT NULL AND NOT {is_set_aside(waiting)} ORDER BY waiting.turn LIMIT 1), 0),
    coalesce((SELECT own.turn FROM announcement AS own WHERE own.flow = {flow} AND own.after IS NOT NULL ORDER BY own.turn DESC LIMIT 1) + 1, 0))

-- name: announce_comment
-- An announcement of the same thread that waits takes the comment in, unless its author and some other user have blocked each other: who may
-- not see this comment has the one before it announced. What is commented on is locked: no two transactions look at once.
WITH waiting AS (
  SELECT id FROM announcement
  WHERE flow = $6 AND kind = $1 AND after = ''
    AND NOT EXISTS (SELECT FROM relation WHERE user_id = $2 AND kind IN ('block', 'blocked'))
  ORDER BY turn LIMIT 1 FOR UPDATE SKIP LOCKED),
taken AS (
  UPDATE announcement SET count = announcement.count + 1, actor = $2, subject = $4::uuid FROM waiting
  WHERE announcement.id = waiting.id RETURNING announcement.id)
INSERT INTO announcement (kind, actor, post, subject, data, turn)
SELECT $1, $2, $3::uuid, $4::uuid, $5::jsonb, {next_turn($6)} WHERE NOT EXISTS (SELECT FROM taken)

-- name: announce_post
-- A post of the last days that others may see.
INSERT INTO announcement (kind, actor, post, turn)
SELECT 'friend_posted', author, public_id, {next_turn(post.author)} FROM post
WHERE public_id = $1::uuid AND visibility <> 'private' AND created_at > statement_timestamp() - make_interval(secs => $2::float8)
  AND EXISTS (SELECT FROM relation WHERE kind = 'friend' AND user_id = post.author)
ON CONFLICT DO NOTHING
RETURNING id

-- name: next_announcement
-- Of several comments of which the newest has been deleted, the newest that is there.
SELECT announcement.id, kind, coalesce(left_over.author, actor) AS actor, post, coalesce(left_over.public_id, subject) AS subject, after,
  CASE WHEN count > 1 THEN coalesce(data, '{}') || jsonb_build_object('count', count::text) ELSE data END AS data,
  announcement.created_at < clock_timestamp() - make_interval(secs => $1::float8) AS is_late
FROM (
  SELECT * FROM announcement WHERE after IS NOT NULL AND NOT {is_set_aside(announcement)}
  ORDER BY turn, id LIMIT 1 FOR UPDATE SKIP LOCKED) AS announcement
LEFT JOIN LATERAL (
  SELECT comment.author, comment.public_id FROM comment
  WHERE announcement.count > 1 AND NOT EXISTS (SELECT FROM comment AS newest WHERE newest.public_id = announcement.subject)
    AND comment.post_id = (SELECT post.id FROM post WHERE post.public_id = announcement.post)
    AND NOT comment.is_hidden AND comment.created_at >= announcement.created_at - interval '1 second'
  ORDER BY comment.created_at DESC, comment.id DESC LIMIT 1) AS left_over ON true

-- name: waiting
-- How long the oldest event has waited for its position, and the oldest announcement for the users that it is for, in seconds; how many
-- announcements wait; and how many events came too late to be sent.
SELECT coalesce(extract(epoch FROM clock_timestamp() - unplaced.since), 0)::float8 AS unplaced,
  coalesce(extract(epoch FROM clock_timestamp() - announced.since), 0)::float8 AS announced, announced.number, event_position.late
FROM event_position, (SELECT min(created_at) AS since FROM user_event WHERE position IS NULL) AS unplaced,
  (SELECT min(created_at) AS since, count(*) AS number FROM announcement WHERE after IS NOT NULL AND NOT {is_set_aside(announcement)}) AS announced

-- fragment: friend_audience
SELECT relation.target AS user_id FROM relation WHERE relation.kind = 'friend' AND relation.user_id = $1

-- fragment: thread_audience
-- The fifty others who commented last, as the last thousand comments show: what a comment costs does not grow with its thread.
SELECT latest.author AS user_id FROM post CROSS JOIN LATERAL (
  SELECT comment.author FROM (
    SELECT author, id FROM comment WHERE comment.post_id = post.id AND NOT comment.is_hidden
    ORDER BY comment.created_at DESC, comment.id DESC LIMIT 1000) AS comment
  WHERE comment.author <> post.author AND comment.author <> $1 AND comment.id < (SELECT id FROM comment WHERE public_id = $3::uuid)
  GROUP BY comment.author ORDER BY max(comment.id) DESC LIMIT 50) AS latest
WHERE post.public_id = $2::uuid

-- fragment: collection_audience
SELECT member.user_id FROM collection JOIN collection_member AS member ON member.collection_id = collection.id
WHERE collection.public_id = ($4::jsonb ->> 'collection')::uuid AND member.state = 'accepted'
UNION ALL SELECT author FROM collection WHERE public_id = ($4::jsonb ->> 'collection')::uuid

-- fragment: announced(audience, kind)
-- Inserts events of the next users of an audience, in the order of their ids by bytes, in which the rows of counts are locked.
WITH audience AS (
  SELECT DISTINCT user_id COLLATE "C" AS user_id FROM ({audience}) AS everybody
  WHERE user_id COLLATE "C" > $5 AND user_id <> $1 ORDER BY 1 LIMIT $6::int),
counted AS (
  INSERT INTO user_event_count AS count (user_id, last)
  SELECT user_id, 1 FROM audience
  WHERE NOT EXISTS (SELECT FROM forgetting WHERE forgetting.user_id = audience.user_id)
    AND NOT {is_blocked(audience.user_id, $1)}
    AND ($2::uuid IS NULL OR EXISTS (
      SELECT FROM post WHERE post.public_id = $2::uuid
        AND {visible(post.author, post.visibility, post.moderation, post.status, audience.user_id)}))
  ORDER BY user_id
  ON CONFLICT (user_id) DO UPDATE SET last = count.last + 1
  RETURNING user_id, last),
inserted AS (
  INSERT INTO user_event (user_id, number, kind, actor, post, subject, data, is_late)
  SELECT user_id, last, {kind}, $1, $2::uuid, $3::uuid, $4::jsonb, $7::boolean FROM counted RETURNING user_id)
SELECT (SELECT max(user_id) FROM audience) AS after, array_to_json(ARRAY (SELECT user_id FROM inserted)) AS users

-- name: announce_to_friends
{announced({friend_audience}, 'friend_posted')}

-- name: announce_to_thread
{announced({thread_audience}, 'thread_comment')}

-- name: announce_to_collection
{announced({collection_audience}, 'collection_comment')}

-- name: continue_announcement
-- Of what is announced once the row stays. The next page comes after what else the flow has.
WITH ended AS (DELETE FROM announcement WHERE id = $1::bigint AND $2::text IS NULL AND kind <> 'friend_posted')
UPDATE announcement SET after = $2, turn = {next_turn(announcement.flow)} WHERE id = $1::bigint AND ($2::text IS NOT NULL OR kind = 'friend_posted')

-- name: drop_old_announcements
DELETE FROM announcement WHERE created_at < statement_timestamp() - make_interval(secs => $1::float8)

-- name: drop_announcements_by_user
DELETE FROM announcement WHERE id IN (SELECT id FROM announcement WHERE actor = $1 LIMIT $2::int)

-- name: drop_old_events
DELETE FROM user_event WHERE (user_id, number) IN (
  SELECT user_id, number FROM user_event
  WHERE created_at < statement_timestamp() - make_interval(secs => $1::float8) ORDER BY created_at LIMIT 1000)

-- name: drop_expired_tickets
DELETE FROM event_ticket WHERE expires_at < statement_timestamp()

-- name: drop_events_of_user
DELETE FROM user_event WHERE user_id = $1 AND number IN (
  SELECT number FROM user_event WHERE user_id = $1 ORDER BY number LIMIT $2::int)

-- name: blank_events_by_user
-- The numbers of another user's events stay without gaps.
UPDATE user_event SET kind = 'forgotten', actor = NULL, post = NULL, subject = NULL, data = NULL
WHERE (user_id, number) IN (SELECT user_id, number FROM user_event WHERE actor = $1 LIMIT $2::int)

-- name: drop_tickets_of_user
DELETE FROM event_ticket WHERE user_id = $1

-- name: drop_event_count
DELETE FROM user_event_count WHERE user_id = $1
