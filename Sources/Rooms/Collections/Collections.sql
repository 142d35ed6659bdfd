-- Collections. Who may read one follows from collection_role; the other fragments of visibility are those of Fragments.sql.

-- fragment: is_shown_to(viewer)
-- Whether neither a moderator nor a block hides a collection from a viewer who is not its author.
(NOT collection.is_hidden AND {unblocked(collection.author, {viewer})})

-- fragment: is_open_to(viewer)
-- Whether a collection is for a user who is not its author, without regard to blocks.
(collection.visibility = 'public' AND {viewer}::text <> ''
  OR collection.visibility = 'friends' AND (
    SELECT true FROM relation
    WHERE relation.user_id = {viewer}::text AND relation.target = collection.author AND relation.kind = 'friend') IS NOT NULL)

-- fragment: member_role
-- What a member is; who was asked and has not accepted is invited.
CASE member.state WHEN 'accepted' THEN member.role ELSE 'invited' END

-- fragment: collection_role(viewer, link)
-- What a viewer is to a collection; NULL: nothing, and then the collection does not exist for the viewer. {link} is the hash of
-- the secret that the viewer knows.
CASE
  WHEN {viewer}::text IS NULL OR collection.author = {viewer}::text THEN 'author'
  WHEN {is_shown_to({viewer})} THEN coalesce(
    (SELECT {member_role} FROM collection_member AS member
     WHERE member.collection_id = collection.id AND member.user_id = {viewer}::text),
    CASE WHEN collection.link = {link}::bytea THEN 'link' END,
    CASE WHEN {is_open_to({viewer})} THEN 'reader' END)
END

-- fragment: collection_columns(viewer)
-- The items are those that the viewer sees.
collection.id, collection.public_id, collection.kind, collection.author, collection.name, collection.fields::text AS fields,
  collection.visibility, collection.is_hidden, collection.created_at, collection.updated_at, collection.revision, collection.member_count,
  collection.item_count - (
    SELECT count(*)::int FROM collection_item AS item JOIN post ON post.id = item.post_id
    WHERE item.collection_id = collection.id
      AND NOT {visible(post.author, post.visibility, post.moderation, post.status, {viewer})}) AS item_count,
  collection.comment_count, collection.link IS NOT NULL AS has_link, own.role AS member_role, own.state AS member_state

-- fragment: membership(viewer)
LEFT JOIN collection_member AS own ON own.collection_id = collection.id AND own.user_id = {viewer}::text

-- fragment: cover(viewer)
-- The set of the thumbnail: its own, unless the viewer has a link and no credential, for which a URL cannot be signed, or else the latest photo
-- of the first place that has one, or the media of the first post
-- that the viewer sees.
LEFT JOIN LATERAL (
  SELECT asset_set_id, is_public FROM (
    (SELECT 0 AS place, image.asset_set_id, false AS is_public FROM image
     WHERE image.kind = 'itinerary' AND image.owner = collection.public_id::text AND image.asset_set_id IS NOT NULL
       AND NOT image.is_hidden AND {viewer}::text IS DISTINCT FROM ''
     ORDER BY image.id DESC LIMIT 1)
    UNION ALL
    (SELECT 1, photo.asset_set_id, true FROM collection_item AS item CROSS JOIN LATERAL (
       SELECT image.asset_set_id FROM image
       WHERE image.kind = 'place' AND image.owner = item.place_id AND image.asset_set_id IS NOT NULL AND NOT image.is_hidden
         AND {unblocked(image.author, {viewer})}
       ORDER BY image.id DESC LIMIT 1) AS photo
     WHERE item.collection_id = collection.id AND item.place_id IS NOT NULL ORDER BY item.position LIMIT 1)
    UNION ALL
    (SELECT 2, post.asset_set_id, {is_public(post)} FROM collection_item AS item JOIN post ON post.id = item.post_id
     WHERE item.collection_id = collection.id AND post.status = 'ready' AND post.asset_set_id IS NOT NULL
       AND {visible(post.author, post.visibility, post.moderation, post.status, {viewer})}
     ORDER BY item.position LIMIT 1)) AS candidate
  ORDER BY place LIMIT 1) AS cover ON true

-- name: collection
-- $4: the user whose view is to be recorded, unless that was done within the hour.
SELECT * FROM (
  SELECT {collection_columns($2)}, cover.asset_set_id, cover.is_public, {collection_role($2, $3)} AS role,
    $4::text IS NOT NULL AND NOT EXISTS (
      SELECT FROM collection_activity AS viewed
      WHERE viewed.collection_id = collection.id AND viewed.kind = 'viewed' AND viewed.user_id = $4
        AND viewed.created_at > clock_timestamp() - interval '1 hour') AS is_new_view
  FROM collection {membership($2)} {cover($2)} WHERE collection.public_id = $1::uuid) AS found
WHERE role IS NOT NULL

-- name: collections
-- Those of a user, and those of whose members the user is one with the states $4, the newest first.
WITH own AS (
  SELECT id, created_at, 'author' AS role FROM collection
  WHERE author = $1 AND 'author' = ANY ($2::text[]) AND 'accepted' = ANY ($4::text[]) AND ($3::text IS NULL OR kind = $3)
    AND ($8::jsonb IS NULL OR fields @> $8::jsonb) AND ($9::jsonpath IS NULL OR fields @@ $9::jsonpath)
    AND (created_at, id) < ($5::timestamptz, $6::bigint)
  ORDER BY created_at DESC, id DESC LIMIT $7::int),
shared AS (
  SELECT collection.id, collection.created_at, {member_role} AS role
  FROM collection_member AS member JOIN collection ON collection.id = member.collection_id
  WHERE member.user_id = $1 AND member.role = ANY ($2::text[]) AND member.state = ANY ($4::text[])
    AND ($3::text IS NULL OR collection.kind = $3)
    AND ($8::jsonb IS NULL OR collection.fields @> $8::jsonb) AND ($9::jsonpath IS NULL OR collection.fields @@ $9::jsonpath)
    AND (collection.created_at, collection.id) < ($5::timestamptz, $6::bigint) AND {is_shown_to($1)}
  ORDER BY collection.created_at DESC, collection.id DESC LIMIT $7::int)
SELECT {collection_columns($1)}, cover.asset_set_id, cover.is_public, listed.role, false AS is_new_view
FROM (SELECT * FROM own UNION ALL SELECT * FROM shared ORDER BY created_at DESC, id DESC LIMIT $7::int) AS listed
JOIN collection ON collection.id = listed.id {membership($1)} {cover($1)}
ORDER BY listed.created_at DESC, listed.id DESC

-- name: open_collections
-- Those of an author that are open to a viewer, the newest first.
SELECT {collection_columns($2)}, cover.asset_set_id, cover.is_public, {collection_role($2, NULL)} AS role, false AS is_new_view
FROM (
  SELECT id FROM collection
  WHERE author = $1 AND visibility <> 'private' AND ($3::text IS NULL OR kind = $3)
    AND (created_at, id) < ($4::timestamptz, $5::bigint) AND {is_shown_to($2)} AND {is_open_to($2)}
  ORDER BY created_at DESC, id DESC LIMIT $6::int) AS listed
JOIN collection ON collection.id = listed.id {membership($2)} {cover($2)}
ORDER BY collection.created_at DESC, collection.id DESC

-- name: collection_items
-- $3: whether one that the viewer does not see has its place in the list.
SELECT place_id, post, fields, is_seen FROM (
  SELECT item.id, item.position, item.place_id, post.public_id AS post, item.fields::text AS fields,
    item.post_id IS NULL OR {visible(post.author, post.visibility, post.moderation, post.status, $2)} AS is_seen
  FROM collection_item AS item LEFT JOIN post ON post.id = item.post_id
  WHERE item.collection_id = $1::bigint) AS item
WHERE is_seen OR $3::boolean
ORDER BY position, id

-- name: collection_role
SELECT {collection_role($2, $3)} AS role FROM collection WHERE public_id = $1::uuid

-- name: lock_collection
SELECT * FROM (
  SELECT id, kind, author, name, fields::text AS fields, {collection_role($2, $3)} AS role FROM collection
  WHERE public_id = $1::uuid FOR UPDATE) AS locked
WHERE role IS NOT NULL

-- name: lock_items
-- The posts that are to be items, before the collection.
SELECT public_id FROM post WHERE public_id = ANY ($1::uuid[]) AND {visible(author, visibility, moderation, status, $2)}
ORDER BY id FOR KEY SHARE

-- name: add_places
-- A place that only collections have is not known: its row is there for the counter.
INSERT INTO place (id) SELECT DISTINCT id FROM unnest($1::text[]) AS given (id) ORDER BY id ON CONFLICT DO NOTHING

-- name: lock_places_of_items
-- The places of a collection before and after a change of its items, in one order, before the triggers lock the ones and the others.
SELECT FROM place
WHERE id = ANY ($2::text[]) OR id IN (SELECT place_id FROM collection_item WHERE collection_id = $1::bigint)
ORDER BY id FOR NO KEY UPDATE

-- name: insert_collection
INSERT INTO collection (public_id, kind, author, name, visibility, fields) VALUES ($1::uuid, $2, $3, $4, $5, $6::jsonb) RETURNING id

-- name: change_collection
UPDATE collection SET name = $2, visibility = $3, fields = $4::jsonb, revision = greatest(revision, history_after()) + 1, updated_at = clock_timestamp()
WHERE id = $1::bigint

-- name: drop_items
-- What the viewer does not see stays.
DELETE FROM collection_item AS item
WHERE item.collection_id = $1::bigint AND (item.post_id IS NULL OR EXISTS (
  SELECT FROM post WHERE post.id = item.post_id AND {visible(post.author, post.visibility, post.moderation, post.status, $2)}))

-- name: move_items
-- What has stayed is at the positions $3, and what these do not suffice for follows the $2 new items.
UPDATE collection_item SET position = coalesce(($3::int[])[kept.number], $2::int + kept.number)
FROM (SELECT id, row_number() OVER (ORDER BY position, id)::int AS number FROM collection_item WHERE collection_id = $1::bigint) AS kept
WHERE collection_item.id = kept.id

-- name: add_items
INSERT INTO collection_item (collection_id, position, place_id, post_id, fields)
SELECT $1::bigint, position, place, (SELECT id FROM post WHERE public_id = given.post::uuid), fields::jsonb
FROM unnest($2::text[], $3::text[], $4::text[], $5::int[]) AS given (place, post, fields, position)

-- name: drop_collection
DELETE FROM collection WHERE id = $1::bigint

-- name: set_link
UPDATE collection SET link = $2 WHERE id = $1::bigint

-- name: collection_members
SELECT user_id, role, state, created_at FROM collection_member
WHERE collection_id = $1::bigint AND user_id > $2 ORDER BY user_id LIMIT $3::int

-- name: has_unblocked_user
SELECT FROM app_user WHERE id = $1 AND {unblocked(app_user.id, $2)}

-- name: member
-- Of a locked collection.
SELECT user_id, role, state, created_at FROM collection_member WHERE collection_id = $1::bigint AND user_id = $2

-- name: save_member
INSERT INTO collection_member (collection_id, user_id, role, state) VALUES ($1::bigint, $2, $3, $4)
ON CONFLICT (collection_id, user_id) DO UPDATE SET role = excluded.role, state = excluded.state

-- name: drop_member
DELETE FROM collection_member WHERE collection_id = $1::bigint AND user_id = $2

-- name: add_activity
INSERT INTO collection_activity (collection_id, kind, user_id, member, keys) VALUES ($1::bigint, $2, $3, $4, $5::text[])

-- name: drop_old_activities
-- The latest thousand stay.
DELETE FROM collection_activity WHERE collection_id = $1::bigint AND id <= (
  SELECT id FROM collection_activity WHERE collection_id = $1::bigint ORDER BY id DESC OFFSET 1000 LIMIT 1)

-- name: activities
SELECT id, kind, user_id, member, coalesce(array_to_json(keys), '[]')::text AS keys, created_at FROM collection_activity
WHERE collection_id = $1::bigint AND id < $2::bigint ORDER BY id DESC LIMIT $3::int

-- name: collections_by_user
SELECT id, public_id FROM collection WHERE author = $1 AND id > $2::bigint ORDER BY id LIMIT $3::int

-- name: collections_of_user
SELECT public_id FROM collection WHERE author = $1 ORDER BY id LIMIT $2::int

-- name: lock_collections_of_member
SELECT collection.id FROM collection
WHERE collection.id IN (SELECT collection_id FROM collection_member WHERE user_id = $1)
ORDER BY collection.id LIMIT $2::int FOR NO KEY UPDATE

-- name: drop_memberships_of_user
DELETE FROM collection_member WHERE (collection_id, user_id) IN (
  SELECT collection_id, user_id FROM collection_member WHERE user_id = $1 ORDER BY collection_id LIMIT $2::int)

-- name: blank_activity_of_user
-- That something was done stays, without saying by whom.
UPDATE collection_activity SET user_id = nullif(user_id, $1), member = nullif(member, $1)
WHERE id IN (
  SELECT id FROM collection_activity WHERE user_id = $1
  UNION SELECT id FROM collection_activity WHERE member = $1 LIMIT $2::int)

-- fragment: collection_counts(collection)
-- The counters of a collection, as they should be.
(SELECT count(*) FROM collection_item AS item WHERE item.collection_id = {collection}),
  (SELECT count(*) FROM collection_member AS member WHERE member.collection_id = {collection} AND member.state = 'accepted'),
  (SELECT count(*) FROM comment WHERE comment.collection_id = {collection} AND NOT is_hidden)

-- name: check_collections
SELECT id::text AS position, public_id::text AS id,
  CASE WHEN (item_count, member_count, comment_count) IS DISTINCT FROM ({collection_counts(page.id)}) THEN 'count_wrong' END AS code,
  'a counter differs from the rows that it counts' AS detail
FROM (SELECT * FROM collection WHERE id > coalesce(nullif($1, '')::bigint, 0) ORDER BY id LIMIT $2::int) AS page ORDER BY page.id

-- name: lock_counted_collection
SELECT FROM collection WHERE public_id = $1::uuid FOR NO KEY UPDATE

-- name: correct_collection
UPDATE collection SET (item_count, member_count, comment_count) = ({collection_counts(collection.id)})
WHERE public_id = $1::uuid

-- name: hide_collection
UPDATE collection SET is_hidden = $2::boolean WHERE public_id = $1::uuid
