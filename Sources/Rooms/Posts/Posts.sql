-- Posts: lists, changes and deletion.

-- name: any_post
-- The same for a client that acts as no user. For NULL the server would make another plan each time, without the subqueries,
-- which takes longer than the query.
SELECT {post_columns} FROM post WHERE public_id = $1::uuid

-- name: posts(source, conditions, time, since, distance, limit)
-- The conditions choose an index; those that follow apply to every list. The time is the column whose latest come first, since that of the
-- beginning. The distance is that from the point of the list in millimeters.
SELECT {post_columns}, {time} AS listed_at, {distance} AS distance
FROM {source}
WHERE {conditions} AND ({time}, id) < ($1::timestamptz, $2::bigint) AND {since} >= $3::timestamptz
  AND status = ANY ($4::text[]) AND visibility = ANY ($5::text[]) AND {visible(author, visibility, moderation, status, $7)}
ORDER BY {time} DESC, id DESC LIMIT {limit}

-- name: posts_by_key(keys, list)
-- The newest rows of each range, and the newest of those.
SELECT found.* FROM {keys} AS keys (key) CROSS JOIN LATERAL ({list}) AS found
ORDER BY found.listed_at DESC, found.id DESC LIMIT $6::int

-- name: newest_keys(keys, latest)
-- Of thousands of friends, a page has posts only of those whose latest posts are the newest, and none that is older than all of these.
SELECT key, CASE WHEN count(*) OVER () = $6::int THEN min(listed_at) OVER () ELSE '-infinity' END AS since
FROM (
  SELECT keys.key, latest.listed_at FROM {keys} AS keys (key) CROSS JOIN LATERAL ({latest}) AS latest
  ORDER BY latest.listed_at DESC, latest.id DESC LIMIT $6::int) AS newest

-- name: posts_by_cell(source, conditions)
-- How many posts of a list lie in each cell of a level of the map, which are numbered as in ActivityMap.swift.
SELECT cell, count(*) AS posts, avg(position[0])::float8 AS longitude, avg(position[1])::float8 AS latitude
FROM (
  SELECT position, floor((position[0] + 180) / 22.5 * (1 << $6::int))::bigint * ((8 << $6::int) + 1)
    + floor((position[1] + 90) / 22.5 * (1 << $6::int))::bigint AS cell
  FROM {source}
  WHERE {conditions} AND position IS NOT NULL AND (created_at, id) < ($1::timestamptz, $2::bigint) AND created_at >= $3::timestamptz
    AND status = ANY ($4::text[]) AND visibility = ANY ($5::text[]) AND {visible(author, visibility, moderation, status, $7)}) AS found
GROUP BY cell

-- name: posts_within
-- How many posts an area has, as far as LIMIT counts: an index has the answer.
SELECT count(*) AS found FROM (SELECT 1 FROM post WHERE position <@ $1::polygon LIMIT $2::int) AS within

-- name: places_of_category
-- How many places have a category, as far as LIMIT counts.
SELECT count(*) AS found FROM (SELECT 1 FROM place WHERE categories @> ARRAY[$1] AND is_known LIMIT $2::int) AS within

-- name: friends_of
-- How many friends a user has, as far as LIMIT counts.
SELECT count(*) AS found FROM (SELECT 1 FROM relation WHERE user_id = $1 AND kind = 'friend' LIMIT $2::int) AS friends

-- name: posts_by_distance(source, conditions, distance)
-- Those near a point, the nearest first, by the distance from it on a great circle, in millimeters. As many are read as $13 says, in the
-- order of an index: NearestFirst knows whether these are enough.
SELECT *, count(*) OVER () AS found, max(degrees) OVER () AS reach FROM (
  SELECT {post_columns}, {distance} AS distance, position <-> point($12::float8, $8::float8) AS degrees
  FROM {source}
  WHERE {conditions} AND created_at < $1::timestamptz AND created_at >= $3::timestamptz
    AND status = ANY ($4::text[]) AND visibility = ANY ($5::text[]) AND {visible(author, visibility, moderation, status, $7)}
    AND {distance} <= $10::bigint AND ({distance}, id) > ($11::bigint, $2::bigint)
  ORDER BY position <-> point($12::float8, $8::float8) LIMIT $13::int) AS near
ORDER BY distance, id LIMIT $6::int

-- name: author_of_post
SELECT author FROM post WHERE public_id = $1::uuid AND {visible(author, visibility, moderation, status, $2)}

-- name: jobs_of_post
-- Of the reactions, of which there may be many, the jobs that are live.
SELECT post.job FROM post WHERE post.public_id = $1::uuid AND post.job IS NOT NULL
UNION
SELECT image.job FROM image JOIN post ON post.id = image.post_id JOIN job ON job.public_id = image.job
WHERE post.public_id = $1::uuid
UNION
SELECT job.public_id FROM job WHERE job.unique_key = {look_key($1::uuid)}
ORDER BY 1

-- name: drop_reactions
DELETE FROM image WHERE post_id = $1::bigint RETURNING asset_set_id, source_set_id, job

-- name: drop_post
DELETE FROM post WHERE id = $1::bigint RETURNING asset_set_id, source_set_id, job

-- name: has_many_rows
-- Whether a post has more rows than a transaction deletes, as far as LIMIT counts: likes and bookmarks, comments, reactions, and items of
-- collections. A post that is processed has few, and is deleted with its first look.
SELECT count(*) > $3::int AND (SELECT status FROM post WHERE id = $1::bigint) <> 'processing' AS has_many
FROM (
  (SELECT 1 FROM relation WHERE target = $2 LIMIT $3::int + 1)
  UNION ALL (SELECT 1 FROM comment WHERE post_id = $1::bigint LIMIT $3::int + 1)
  UNION ALL (SELECT 1 FROM image WHERE post_id = $1::bigint LIMIT $3::int + 1)
  UNION ALL (SELECT 1 FROM collection_item WHERE post_id = $1::bigint LIMIT $3::int + 1)) AS found

-- name: drop_cases_of_post
DELETE FROM moderation_case WHERE post_id = $1::bigint

-- name: leave_place
-- Before the status changes: a place keeps what a deleted post said of it.
UPDATE post SET place_id = NULL WHERE id = $1::bigint AND place_id IS NOT NULL

-- name: detach_post
-- What is left of a deleted post until its rows are gone: its id is unknown, its author is no user, and nothing else says what it was. Returns the
-- sets that it had.
UPDATE post SET public_id = $2::uuid, {draft_clearing}, status = 'failed', reasons = '[]', created_at = 'epoch',
  job = NULL, asset_set_id = NULL, source_set_id = NULL, like_count = 0,
  window_state = NULL, late_seconds = NULL, offset_seconds = NULL, moderation = NULL, is_moderated = false
FROM (SELECT id, asset_set_id, source_set_id FROM post WHERE id = $1::bigint) AS former
WHERE post.id = former.id
RETURNING former.asset_set_id, former.source_set_id, NULL::text AS job

-- name: change_post
UPDATE post SET {draft_changes} WHERE public_id = $1::uuid
RETURNING is_moderated AND moderation IS NULL AS is_to_be_held

-- name: assets_of_post
-- The assets of the post's set, of its reactions' sets, and of the sets that these have replaced.
WITH RECURSIVE sets (id) AS (
  SELECT asset_set_id FROM post WHERE id = $1::bigint AND asset_set_id IS NOT NULL
  UNION SELECT asset_set_id FROM image WHERE post_id = $1::bigint AND asset_set_id IS NOT NULL
  UNION SELECT asset_set.id FROM asset_set JOIN sets ON asset_set.replaced_by = sets.id)
SELECT asset.id FROM asset JOIN sets ON sets.id = asset.asset_set_id ORDER BY asset.id

-- name: rename_assets
UPDATE asset SET public_id = given.public_id
FROM unnest($1::bigint[], $2::uuid[]) AS given (id, public_id)
WHERE asset.id = given.id

-- name: sets_of_post
SELECT asset_set_id, source_set_id FROM post WHERE id = $1::bigint

-- name: copy_set
-- A set of what the given one says, without its assets.
INSERT INTO asset_set (public_id, definition, recipe, job)
SELECT $2::uuid, definition, recipe, job FROM asset_set WHERE id = $1::bigint
RETURNING id

-- name: move_photos
UPDATE asset SET asset_set_id = $2::bigint, place = given.place - 1
FROM unnest($3::bigint[]) WITH ORDINALITY AS given (former, place)
WHERE asset.asset_set_id = $1::bigint AND asset.place = given.former

-- name: replace_sets
-- Gives a post other sets, and returns those that it had.
UPDATE post SET asset_set_id = $2::bigint, source_set_id = $3::bigint
FROM (SELECT id, asset_set_id, source_set_id FROM post WHERE id = $1::bigint) AS former
WHERE post.id = former.id
RETURNING former.asset_set_id, former.source_set_id, NULL::text AS job

-- name: calendar
-- The latest post of each day of a month that has posts of the author, by days of the given time zone.
WITH day AS (
  SELECT (taken_at AT TIME ZONE $2)::date AS date, id, public_id, asset_set_id, taken_at, {is_public(post)} AND status = 'ready' AS is_public
  FROM post
  WHERE author = $1 AND (status = 'ready' OR look IS NOT NULL AND {shows_media(post, $5)}) AND visibility = ANY ($4::text[]) AND {visible(author, visibility, moderation, status, $5)}
    AND taken_at >= $3::timestamp AT TIME ZONE $2
    AND taken_at < ($3::timestamp + interval '1 month') AT TIME ZONE $2)
SELECT DISTINCT ON (date) to_char(date, 'YYYY-MM-DD') AS date, public_id, asset_set_id, is_public,
  count(*) OVER (PARTITION BY date) AS posts
FROM day ORDER BY date, taken_at DESC, id DESC

-- name: posts_of_user
SELECT public_id FROM post WHERE author = $1 ORDER BY id LIMIT $2::int

-- name: jobs_of_posts
SELECT job FROM post WHERE public_id = ANY ($1::uuid[]) AND job IS NOT NULL
UNION
SELECT image.job FROM image JOIN post ON post.id = image.post_id JOIN job ON job.public_id = image.job
WHERE post.public_id = ANY ($1::uuid[])
UNION
SELECT job.public_id FROM unnest($1::uuid[]) AS deleted (id) JOIN job ON job.unique_key = {look_key(deleted.id)}

-- name: lock_posts
SELECT id FROM post WHERE public_id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE

-- name: drop_comments_of_posts
DELETE FROM comment WHERE id IN (
  SELECT comment.id FROM comment JOIN post ON post.id = comment.post_id
  WHERE post.public_id = ANY ($1::uuid[]) ORDER BY comment.id LIMIT $2::int)

-- name: drop_relations_to_posts
-- The posts are locked, which count some of them.
DELETE FROM relation WHERE id IN (SELECT id FROM relation WHERE target = ANY ($1::text[]) LIMIT $2::int)

-- name: items_of_posts
SELECT item.id FROM collection_item AS item JOIN post ON post.id = item.post_id
WHERE post.public_id = ANY ($1::uuid[]) LIMIT $2::int

-- name: lock_collections_of_items
SELECT collection.id FROM collection
WHERE collection.id IN (SELECT collection_id FROM collection_item WHERE id = ANY ($1::bigint[]))
ORDER BY collection.id FOR NO KEY UPDATE

-- name: drop_items
DELETE FROM collection_item WHERE id = ANY ($1::bigint[])

-- name: lock_collections_of_posts
SELECT collection.id FROM collection
WHERE collection.id IN (
  SELECT item.collection_id FROM collection_item AS item JOIN post ON post.id = item.post_id
  WHERE post.public_id = ANY ($1::uuid[]))
ORDER BY collection.id FOR NO KEY UPDATE

-- name: lock_places_of_posts
-- Of one author: the user, then all places, before the posts are deleted one after another.
WITH author AS MATERIALIZED (
  SELECT id FROM app_user WHERE id IN (SELECT author FROM post WHERE public_id = ANY ($1::uuid[])) ORDER BY id FOR NO KEY UPDATE)
SELECT place.number FROM place
WHERE (SELECT count(*) FROM author) > 0 AND place.id IN (SELECT place_id FROM post WHERE public_id = ANY ($1::uuid[]))
ORDER BY place.id FOR NO KEY UPDATE

-- name: lock_activity_of_posts
-- The cells of the map, which triggers would lock at the commit post after post.
SELECT FROM map_activity AS activity
WHERE (period, level, cell, start) IN (
  SELECT cells.period, cells.level, cells.cell, cells.start FROM post, map_cells(post.position, post.created_at) AS cells
  WHERE post.public_id = ANY ($1::uuid[]) AND post.status = 'ready' AND post.visibility = 'public' AND post.min_age IS NULL
    AND post.map_cell IS NOT NULL)
ORDER BY level, period, cell, start FOR NO KEY UPDATE

-- fragment: post_counts(post)
-- The counters of a post, as they should be.
(SELECT count(*) FROM relation WHERE relation.target = {post}.public_id::text AND kind = 'like'),
  (SELECT count(*) FROM comment WHERE comment.post_id = {post}.id AND NOT is_hidden),
  (SELECT count(*) FROM image WHERE image.post_id = {post}.id AND image.status = 'ready' AND NOT image.is_hidden)

-- name: check_posts
SELECT id::text AS position, public_id::text AS id,
  CASE WHEN (like_count, comment_count, reaction_count) IS DISTINCT FROM ({post_counts(page)})
    -- Those of posts that are being deleted go in pages.
    AND NOT EXISTS (SELECT FROM forgetting WHERE forgetting.user_id = page.author) THEN 'count_wrong' END AS code,
  'a counter differs from the rows that it counts' AS detail
FROM (SELECT * FROM post WHERE id > coalesce(nullif($1, '')::bigint, 0) ORDER BY id LIMIT $2::int) AS page ORDER BY page.id

-- name: lock_counted_post
SELECT FROM post WHERE public_id = $1::uuid FOR NO KEY UPDATE

-- name: correct_post
UPDATE post SET (like_count, comment_count, reaction_count) = ({post_counts(post)}) WHERE public_id = $1::uuid

-- name: moderate_post
-- The status is named for its triggers: that of the moderation sets it.
UPDATE post SET moderation = $2, status = status WHERE public_id = $1::uuid RETURNING id, author, status
