-- Places and what users note about them, and how many posts lie where. The fragments of visibility are those of Fragments.sql.

-- fragment: open(place, viewer)
-- Whether a place that is known to everybody is so to a viewer. One that a moderator has hidden is for clients that act as no user.
({place}.is_known AND (NOT {place}.is_hidden OR {viewer}::text IS NULL))

-- fragment: befriended(place, user, viewer)
-- Whether a viewer sees one of the posts for friends that a user has at a place.
(SELECT true FROM post
 WHERE post.place_id = {place} AND post.author = {user} AND post.status = 'ready' AND post.visibility = 'friends'
   AND {visible(post.author, post.visibility, post.moderation, post.status, {viewer})} LIMIT 1) IS NOT NULL

-- fragment: latest_of_place
-- What the latest of some posts say of a place.
(array_agg(place_name ORDER BY id DESC) FILTER (WHERE place_name <> ''))[1] AS name,
  (array_agg(place_latitude ORDER BY id DESC) FILTER (WHERE place_latitude IS NOT NULL))[1] AS latitude,
  (array_agg(place_longitude ORDER BY id DESC) FILTER (WHERE place_longitude IS NOT NULL))[1] AS longitude

-- fragment: said_to(place, user, viewer)
-- What the latest posts for friends that a user has at a place say of it to a viewer; no row if the viewer sees none of them.
SELECT {latest_of_place} FROM (
      SELECT post.id, place_name, place_latitude, place_longitude FROM post
      WHERE post.place_id = {place} AND post.author = {user} AND post.status = 'ready' AND post.visibility = 'friends'
        AND {visible(post.author, post.visibility, post.moderation, post.status, {viewer})}
      ORDER BY post.created_at DESC, post.id DESC LIMIT 100) AS seen
    HAVING count(*) > 0

-- fragment: friends_at(place, viewer)
-- The viewer, and the viewer's friends, who have posts for friends at a place, in the order of their ids. Of the friends and of those who
-- have such posts each skips by an index what the others have not, so that the fewer of them are the steps: a stranger takes none
-- where all the world is.
WITH RECURSIVE meeting (friend, present) AS (
      SELECT '', ''
      UNION ALL
      SELECT next.friend, there.user_id FROM meeting CROSS JOIN LATERAL (
        SELECT least((
          SELECT relation.target FROM relation
          WHERE relation.user_id = {viewer}::text AND relation.kind = 'friend'
            AND relation.target >= meeting.present AND relation.target > meeting.friend
          ORDER BY relation.target LIMIT 1),
          CASE WHEN {viewer}::text >= meeting.present AND {viewer}::text > meeting.friend THEN {viewer}::text END) AS friend) AS next
      CROSS JOIN LATERAL (
        SELECT place_friend.user_id FROM place_friend
        WHERE place_friend.place_id = {place} AND place_friend.user_id >= next.friend
        ORDER BY place_friend.user_id LIMIT 1) AS there)
    SELECT friend AS user_id FROM meeting WHERE friend = present AND friend <> ''

-- fragment: known(place, viewer)
-- Whether a viewer may know of a place: everybody does, or the viewer sees a post there.
(({place}.is_known
    OR (SELECT true FROM ({friends_at({place}.id, {viewer})}) AS friend WHERE {befriended({place}.id, friend.user_id, {viewer})} LIMIT 1) IS NOT NULL
    OR (SELECT true FROM post WHERE post.place_id = {place}.id AND post.min_age IS NOT NULL AND post.status = 'ready'
        AND post.visibility = 'public' AND post.min_age <= {greatest_min_age({viewer})} AND {visible(post.author, post.visibility, post.moderation, post.status, {viewer})} LIMIT 1) IS NOT NULL
    OR (SELECT true FROM post WHERE post.place_id = {place}.id AND post.author = {viewer}::text AND post.min_age IS NOT NULL
        AND post.status = 'ready' AND post.visibility = 'public' LIMIT 1) IS NOT NULL
    OR {viewer}::text IS NULL AND (
      SELECT true FROM place_friend AS friend
      WHERE friend.place_id = {place}.id AND {befriended({place}.id, friend.user_id, {viewer})} LIMIT 1) IS NOT NULL)
  AND (NOT {place}.is_hidden OR {viewer}::text IS NULL))

-- fragment: collections_seen(viewer)
-- The collections that a viewer sees. They are found by the viewer, who has few.
SELECT collection.id FROM collection WHERE collection.author = {viewer}::text
    UNION ALL
    SELECT collection.id FROM collection_member AS member JOIN collection ON collection.id = member.collection_id
    WHERE member.user_id = {viewer}::text AND member.state = 'accepted' AND NOT collection.is_hidden AND {unblocked(collection.author, {viewer})}

-- fragment: collections_of_place(viewer)
-- The number of collections with a place that the viewer sees.
(SELECT count(*) FROM (
    {collections_seen({viewer})}) AS seen
  JOIN collection_item AS item ON item.collection_id = seen.id AND item.place_id = place.id)

-- fragment: place_columns(viewer, collections)
-- A place for a viewer, with what place_parts has of it, the number of the viewer's collections with it, and the viewer's own note.
place.number, place.id, coalesce(place.name, friend.name) AS name, coalesce(place.latitude, friend.latitude) AS latitude,
  coalesce(place.longitude, friend.longitude) AS longitude, array_to_json(place.categories)::text AS categories,
  place.rating, place.price_level, place.author, place.is_own, place.created_at, place.revision, place.post_count, place.author_count,
  place.favourite_count, CASE WHEN {viewer}::text IS NULL THEN place.collection_count ELSE {collections} END AS collection_count, place.comment_count,
  coalesce(photo.asset_set_id, picture.asset_set_id) AS asset_set_id,
  photo.asset_set_id IS NOT NULL OR coalesce(picture.is_public, false) AS is_public,
  (SELECT place_note.text FROM place_note
   WHERE place_note.user_id = {viewer}::text AND place_note.place_id = place.id) AS note,
  place.rating_count, place.rating_halves,
  (SELECT place_rating.halves FROM place_rating
   WHERE place_rating.user_id = {viewer}::text AND place_rating.place_id = place.id) AS own_halves

-- fragment: is_undescribed
-- Whether what posts for friends say of a place is shown.
(place.name IS NULL OR place.latitude IS NULL) AND NOT place.is_own

-- fragment: most_complete(said)
{said}.latitude IS NULL, {said}.name IS NULL, {said}.user_id

-- fragment: picture(viewer, condition)
-- The media of the newest of some posts at a place that the viewer sees, unless a photo comes first.
SELECT post.asset_set_id, {is_public(post)} AS is_public, post.created_at, post.id FROM post
    WHERE photo.asset_set_id IS NULL AND post.place_id = place.id AND post.asset_set_id IS NOT NULL AND post.status = 'ready'
      AND {condition} AND {visible(post.author, post.visibility, post.moderation, post.status, {viewer})}
    ORDER BY post.created_at DESC, post.id DESC LIMIT 1

-- fragment: place_parts(viewer)
-- What a viewer's friends say of a place where nothing else says it, or for a client that acts as no user anybody; the latest photo of it
-- that the viewer sees, or else the media of the newest such post.
LEFT JOIN LATERAL (
  SELECT said.name, said.latitude, said.longitude FROM (
    (SELECT words.* FROM (
       SELECT there.* FROM ({friends_at(place.id, {viewer})}) AS friend
       CROSS JOIN LATERAL (
         SELECT * FROM place_friend WHERE place_friend.place_id = place.id AND place_friend.user_id = friend.user_id) AS there
       WHERE {is_undescribed} ORDER BY {most_complete(there)} OFFSET 0) AS there
     CROSS JOIN LATERAL ({said_to(place.id, there.user_id, {viewer})}) AS words LIMIT 1)
    UNION ALL
    (SELECT there.name, there.latitude, there.longitude FROM place_friend AS there
     WHERE {viewer}::text IS NULL AND {is_undescribed} AND there.place_id = place.id
       AND {befriended(place.id, there.user_id, {viewer})}
     ORDER BY {most_complete(there)} LIMIT 1)) AS said
  LIMIT 1) AS friend ON true
LEFT JOIN LATERAL (
  SELECT image.asset_set_id FROM image
  WHERE image.kind = 'place' AND image.owner = place.id AND image.asset_set_id IS NOT NULL AND NOT image.is_hidden
    AND {unblocked(image.author, {viewer})}
  ORDER BY image.id DESC LIMIT 1) AS photo ON true
LEFT JOIN LATERAL (
  SELECT newest.asset_set_id, newest.is_public FROM (
    ({picture({viewer}, post.visibility = 'public')})
    UNION ALL
    (SELECT own.* FROM ({friends_at(place.id, {viewer})}) AS friend
     CROSS JOIN LATERAL ({picture({viewer}, post.visibility = 'friends' AND post.author = friend.user_id)}) AS own
     WHERE photo.asset_set_id IS NULL)
    UNION ALL
    ({picture({viewer}, post.visibility <> 'private' AND {viewer}::text IS NULL)})) AS newest
  ORDER BY newest.created_at DESC, newest.id DESC LIMIT 1) AS picture ON true

-- name: place
SELECT {place_columns($2, {collections_of_place($2)})} FROM place {place_parts($2)} WHERE place.id = $1 AND {known(place, $2)}

-- name: places_by_id
-- A join with the ids reads the hash index, which = ANY would not. The viewer's collections are read once for all places.
SELECT {place_columns($2, coalesce(saved.collections, 0))}
FROM unnest($1::text[]) AS named (id) JOIN place ON place.id = named.id
LEFT JOIN (
  SELECT item.place_id, count(*) AS collections FROM (
    {collections_seen($2)}) AS seen
  JOIN collection_item AS item ON item.collection_id = seen.id
  WHERE item.place_id = ANY ($1::text[]) GROUP BY item.place_id) AS saved ON saved.place_id = place.id
{place_parts($2)} WHERE {known(place, $2)} ORDER BY place.id

-- name: places(conditions, key, distance)
-- The key is what has the largest value in the first place. The distance is that from the point of the list in millimeters.
-- Which places are those of the page is decided by an index; their rows, photos and notes are read one by one, and OFFSET keeps it so.
SELECT {place_columns($4, {collections_of_place($4)})}, chosen.key, chosen.distance FROM (
  SELECT number, {key} AS key, {distance} AS distance FROM place
  WHERE {conditions} AND {open(place, $4)} AND ({key}, number) < ($1::bigint, $2::bigint)
  ORDER BY {key} DESC, number DESC LIMIT $3::int) AS chosen
CROSS JOIN LATERAL (SELECT * FROM place WHERE place.number = chosen.number OFFSET 0) AS place {place_parts($4)}
ORDER BY chosen.key DESC, chosen.number DESC

-- name: places_by_distance(conditions, key, distance)
-- The same for those near a point, the nearest first, as posts_by_distance.
SELECT {place_columns($4, {collections_of_place($4)})}, chosen.key, chosen.distance, chosen.found, chosen.reach FROM (
  SELECT number, key, distance, count(*) OVER () AS found, max(degrees) OVER () AS reach FROM (
    SELECT number, {key} AS key, {distance} AS distance, position <-> point($8::float8, $5::float8) AS degrees FROM place
    WHERE {conditions} AND {open(place, $4)} AND ({key}, number) < ($1::bigint, $2::bigint)
    ORDER BY position <-> point($8::float8, $5::float8) LIMIT $9::int) AS near
  ORDER BY key DESC, number DESC LIMIT $3::int) AS chosen
CROSS JOIN LATERAL (SELECT * FROM place WHERE place.number = chosen.number OFFSET 0) AS place {place_parts($4)}
ORDER BY chosen.key DESC, chosen.number DESC

-- name: places_of_friends(conditions, key, distance)
-- Those that posts for friends alone make known or locate, where these say that they are. One whose friend says so in a post that the viewer
-- does not see is not there.
SELECT {place_columns($4, {collections_of_place($4)})}, chosen.key, chosen.distance FROM (
  SELECT number, max({key}) AS key, min({distance}) AS distance FROM (
    SELECT friend.position, place.number, place.post_count, place.favourite_count
    FROM place_friend AS friend JOIN place ON place.id = friend.place_id
    CROSS JOIN LATERAL ({said_to(friend.place_id, friend.user_id, $4)}) AS words
    WHERE (NOT place.is_known OR place.latitude IS NULL AND NOT place.is_own) AND NOT place.is_hidden
      AND (words.latitude, words.longitude) IS NOT DISTINCT FROM (friend.latitude, friend.longitude) AND friend.user_id = ANY (ARRAY(
      SELECT $4::text UNION ALL SELECT target FROM relation WHERE user_id = $4::text AND kind = 'friend'))) AS found
  WHERE {conditions} GROUP BY number HAVING (max({key}), number) < ($1::bigint, $2::bigint)
  ORDER BY key DESC, number DESC LIMIT $3::int) AS chosen
CROSS JOIN LATERAL (SELECT * FROM place WHERE place.number = chosen.number OFFSET 0) AS place {place_parts($4)}
ORDER BY chosen.key DESC, chosen.number DESC

-- name: add_place
INSERT INTO place (id) VALUES ($1) ON CONFLICT DO NOTHING

-- name: add_own_place
INSERT INTO place (id, author, is_own, revision) VALUES ($1, $2, true, history_after() + 1)

-- name: lock_place
SELECT is_hidden, is_own, author FROM place WHERE id = $1 FOR NO KEY UPDATE

-- name: describe_place
-- What one says replaces what the same one has said. A trigger makes of it what is shown.
INSERT INTO place_description (place_id, user_id, rank, name, latitude, longitude, categories, rating, price_level)
VALUES ($1, coalesce($2, ''), CASE WHEN $2 IS NULL THEN 0 ELSE 2 END, $3, $4::float8, $5::float8, $6::text[], $7::float8, $8::smallint)
ON CONFLICT (place_id, rank, user_id) DO UPDATE SET name = excluded.name, latitude = excluded.latitude,
  longitude = excluded.longitude, categories = excluded.categories, rating = excluded.rating, price_level = excluded.price_level

-- name: count_description
UPDATE place SET author = CASE revision WHEN 0 THEN $2 ELSE author END, revision = greatest(revision, history_after()) + 1 WHERE id = $1

-- name: lock_known_place
SELECT number FROM place WHERE id = $1 AND {known(place, $2)} FOR NO KEY UPDATE

-- name: has_place
SELECT FROM place WHERE id = $1 AND {known(place, $2)}

-- name: hide_place
UPDATE place SET is_hidden = $2::boolean WHERE id = $1

-- name: users_of_place
-- Who has public posts at a place, by the ids of the users.
SELECT user_id, posts FROM place_user
WHERE place_id = $1 AND user_id > $2 AND {unblocked(place_user.user_id, $4)}
ORDER BY user_id LIMIT $3::int

-- name: save_note
INSERT INTO place_note (user_id, place_id, text) VALUES ($1, $2, $3)
ON CONFLICT (user_id, place_id) DO UPDATE SET text = excluded.text, updated_at = clock_timestamp()

-- name: lock_note
SELECT id, place_id, text, created_at, updated_at FROM place_note WHERE user_id = $1 AND place_id = $2 FOR UPDATE

-- name: note
SELECT id, place_id, text, created_at, updated_at FROM place_note WHERE user_id = $1 AND place_id = $2

-- name: notes
SELECT id, place_id, text, created_at, updated_at FROM place_note
WHERE user_id = $1 AND (updated_at, id) < ($2::timestamptz, $3::bigint)
ORDER BY updated_at DESC, id DESC LIMIT $4::int

-- name: drop_note
DELETE FROM place_note WHERE user_id = $1 AND place_id = $2

-- name: save_rating
INSERT INTO place_rating (user_id, place_id, halves) VALUES ($1, $2, $3::smallint)
ON CONFLICT (user_id, place_id) DO UPDATE SET halves = excluded.halves, updated_at = clock_timestamp()

-- fragment: rating_columns
id, place_id, halves, created_at, updated_at

-- name: rating
SELECT {rating_columns} FROM place_rating WHERE user_id = $1 AND place_id = $2

-- name: ratings
SELECT {rating_columns} FROM place_rating WHERE user_id = $1 AND (updated_at, id) < ($2::timestamptz, $3::bigint)
ORDER BY updated_at DESC, id DESC LIMIT $4::int

-- name: drop_rating
DELETE FROM place_rating WHERE user_id = $1 AND place_id = $2

-- name: activity
SELECT cell, sum(posts)::bigint AS posts, (sum(longitudes) / sum(posts) / 1e6)::float8 AS longitude,
  (sum(latitudes) / sum(posts) / 1e6)::float8 AS latitude
FROM map_activity
WHERE period = $1 AND level = $2::smallint AND cell = ANY ($3::bigint[]) AND start >= $4::timestamptz AND start < $5::timestamptz
GROUP BY cell HAVING sum(posts) > 0 ORDER BY posts DESC, cell

-- name: drop_old_activity
-- Hours that no map asks for any more.
DELETE FROM map_activity WHERE (period, level, cell, start) IN (
  SELECT period, level, cell, start FROM map_activity
  WHERE period = 'hour' AND start < statement_timestamp() - make_interval(secs => $1::float8)
  ORDER BY start LIMIT 1000)

-- name: notes_by_user
SELECT id, place_id, text, created_at, updated_at FROM place_note
WHERE user_id = $1 AND id > $2::bigint ORDER BY id LIMIT $3::int

-- name: descriptions_by_user
SELECT number, place_id, name, latitude, longitude, array_to_json(categories)::text AS categories, rating, price_level
FROM place_description WHERE user_id = $1 AND rank = 2 AND number > $2::bigint ORDER BY number LIMIT $3::int

-- name: drop_notes_of_user
DELETE FROM place_note WHERE id IN (SELECT id FROM place_note WHERE user_id = $1 ORDER BY id LIMIT $2::int)

-- name: ratings_by_user
SELECT {rating_columns} FROM place_rating WHERE user_id = $1 AND id > $2::bigint ORDER BY id LIMIT $3::int

-- name: lock_rated_places
SELECT place.number FROM place
WHERE place.id IN (SELECT place_id FROM place_rating WHERE user_id = $1 ORDER BY id LIMIT $2::int)
ORDER BY place.id FOR NO KEY UPDATE

-- name: drop_ratings_of_user
DELETE FROM place_rating WHERE id IN (SELECT id FROM place_rating WHERE user_id = $1 ORDER BY id LIMIT $2::int)

-- name: lock_described_places
SELECT place.number FROM place
WHERE place.id IN (
  SELECT place_id FROM place_description WHERE user_id = $1 ORDER BY number LIMIT $2::int)
ORDER BY place.id FOR NO KEY UPDATE

-- name: drop_descriptions_of_user
-- What others say of the place counts. Without a description it stays as it is: it belongs to the app.
DELETE FROM place_description WHERE (place_id, rank, user_id) IN (
  SELECT place_id, rank, user_id FROM place_description WHERE user_id = $1 ORDER BY number LIMIT $2::int)

-- name: blank_places
-- An own place that only the user described loses what the user said.
UPDATE place SET author = NULL, (name, latitude, longitude, categories, rating, price_level) = (
  SELECT CASE WHEN mine THEN NULL ELSE name END, CASE WHEN mine THEN NULL ELSE latitude END, CASE WHEN mine THEN NULL ELSE longitude END,
    CASE WHEN mine THEN '{}' ELSE categories END, CASE WHEN mine THEN NULL ELSE rating END, CASE WHEN mine THEN NULL ELSE price_level END
  FROM (SELECT place.is_own AND NOT EXISTS (
    SELECT FROM place_description AS said WHERE said.place_id = place.id) AS mine) AS own)
WHERE id IN (SELECT id FROM place WHERE author = $1 ORDER BY id LIMIT $2::int FOR NO KEY UPDATE)

-- fragment: place_counters
post_count, author_count, favourite_count, collection_count, comment_count, rating_count, rating_halves

-- fragment: place_counts(place)
-- The counters of a place, as they should be.
(SELECT count(*) FROM post WHERE post.place_id = {place} AND status = 'ready' AND visibility = 'public' AND min_age IS NULL),
  (SELECT count(DISTINCT author) FROM post WHERE post.place_id = {place} AND status = 'ready' AND visibility = 'public' AND min_age IS NULL),
  (SELECT count(*) FROM relation WHERE relation.target = {place} AND kind = 'favourite'),
  (SELECT count(*) FROM collection_item AS item WHERE item.place_id = {place}),
  (SELECT count(*) FROM comment WHERE comment.place_id = {place} AND NOT is_hidden),
  (SELECT count(*) FROM place_rating AS given WHERE given.place_id = {place}),
  (SELECT coalesce(sum(halves), 0) FROM place_rating AS given WHERE given.place_id = {place})

-- name: check_places
SELECT id AS position, id,
  CASE WHEN ({place_counters}) IS DISTINCT FROM ({place_counts(page.id)})
    OR author_count <> (SELECT count(*) FROM place_user WHERE place_user.place_id = page.id)
    OR post_count <> (SELECT coalesce(sum(posts), 0) FROM place_user WHERE place_user.place_id = page.id)
    OR (SELECT (count(*), sum(posts)) FROM place_friend WHERE place_friend.place_id = page.id) IS DISTINCT FROM (
      SELECT (count(DISTINCT author), nullif(count(*), 0)::numeric) FROM post
      WHERE post.place_id = page.id AND status = 'ready' AND visibility = 'friends') THEN 'count_wrong' END AS code,
  'a counter differs from the rows that it counts' AS detail
FROM (SELECT * FROM place WHERE id > $1 ORDER BY id LIMIT $2::int) AS page ORDER BY id

-- name: check_unknown_places
-- Places that posts of several name and that have no row.
SELECT DISTINCT place_id AS position, place_id AS id, 'count_wrong' AS code, 'posts name a place that has no row' AS detail FROM post
WHERE place_id > $1 AND status = 'ready' AND visibility <> 'private'
  AND NOT EXISTS (SELECT FROM place WHERE place.id = post.place_id)
ORDER BY place_id LIMIT $2::int

-- name: lock_counted_place
INSERT INTO place AS locked (id) VALUES ($1) ON CONFLICT (id) DO UPDATE SET revision = locked.revision

-- name: correct_place
WITH gone AS (
  DELETE FROM place_user WHERE place_id = $1 AND NOT EXISTS (
    SELECT FROM post WHERE post.place_id = $1 AND post.author = place_user.user_id AND status = 'ready' AND visibility = 'public' AND min_age IS NULL)),
present AS (
  INSERT INTO place_user (place_id, user_id, posts)
  SELECT place_id, author, count(*) FROM post WHERE place_id = $1 AND status = 'ready' AND visibility = 'public' AND min_age IS NULL
  GROUP BY place_id, author
  ON CONFLICT (place_id, user_id) DO UPDATE SET posts = excluded.posts),
no_friend AS (
  DELETE FROM place_friend WHERE place_id = $1 AND NOT EXISTS (
    SELECT FROM post WHERE post.place_id = $1 AND post.author = place_friend.user_id AND status = 'ready' AND visibility = 'friends')),
friend AS (
  INSERT INTO place_friend (place_id, user_id, posts, name, latitude, longitude)
  SELECT place_id, author, count(*), {latest_of_place} FROM post
  WHERE place_id = $1 AND status = 'ready' AND visibility = 'friends' GROUP BY place_id, author
  ON CONFLICT (place_id, user_id) DO UPDATE SET posts = excluded.posts, name = excluded.name, latitude = excluded.latitude,
    longitude = excluded.longitude),
-- What posts say is said again, and what others say is touched: a trigger makes of all what is shown.
said AS (
  INSERT INTO place_description (place_id, user_id, rank, name, latitude, longitude)
  SELECT place_id, author, 1, {latest_of_place}
  FROM post
  WHERE place_id = $1 AND status = 'ready' AND visibility = 'public' AND min_age IS NULL AND (place_name <> '' OR place_latitude IS NOT NULL)
  GROUP BY place_id, author ORDER BY min(id)
  ON CONFLICT (place_id, rank, user_id) DO UPDATE SET name = excluded.name, latitude = excluded.latitude, longitude = excluded.longitude),
unsaid AS (
  DELETE FROM place_description WHERE place_id = $1 AND rank = 1 AND NOT EXISTS (
    SELECT FROM post WHERE post.place_id = $1 AND post.author = place_description.user_id AND status = 'ready' AND visibility = 'public'
      AND min_age IS NULL AND (place_name <> '' OR place_latitude IS NOT NULL))),
touched AS (UPDATE place_description SET rank = rank WHERE place_id = $1 AND rank <> 1)
UPDATE place SET ({place_counters}) = ({place_counts(place.id)}) WHERE id = $1

-- name: check_activity
-- The months whose sums on a level of the map, or of a kind of period, are not those of the posts.
WITH posts AS (
  SELECT date_trunc('month', created_at, 'UTC') AS month, count(*) AS posts,
    sum(round(position[0] * 1e6)::bigint) AS longitudes
  FROM post WHERE status = 'ready' AND visibility = 'public' AND min_age IS NULL AND map_cell IS NOT NULL GROUP BY 1),
sums AS (
  SELECT date_trunc('month', start, 'UTC') AS month, period, level, sum(posts) AS posts, sum(longitudes) AS longitudes
  FROM map_activity WHERE period <> 'hour' GROUP BY 1, 2, 3)
SELECT position, position AS id, 'count_wrong' AS code, 'the sums of the map differ from the posts' AS detail
FROM (
  SELECT DISTINCT to_char(month AT TIME ZONE 'UTC', 'YYYY-MM') AS position
  FROM (SELECT month, period, level, posts, longitudes FROM posts, unnest(ARRAY['day', 'month']) AS period, generate_series(0, 13) AS level)
    AS expected FULL JOIN sums USING (month, period, level)
  WHERE (expected.posts, expected.longitudes) IS DISTINCT FROM (sums.posts, sums.longitudes)) AS wrong
WHERE position > $1 ORDER BY position LIMIT $2::int

-- name: lock_activity
-- Each change of the sums waits, and follows.
LOCK TABLE map_activity IN SHARE ROW EXCLUSIVE MODE

-- name: drop_activity
DELETE FROM map_activity
WHERE start >= ($1 || '-01')::timestamp AT TIME ZONE 'UTC' AND start < (($1 || '-01')::timestamp + interval '1 month') AT TIME ZONE 'UTC'

-- name: add_activity
INSERT INTO map_activity (period, level, cell, start, posts, longitudes, latitudes)
SELECT period, level, cell, start, count(*), sum(round(position[0] * 1e6)::bigint), sum(round(position[1] * 1e6)::bigint)
FROM post, map_cells(position, created_at)
WHERE status = 'ready' AND visibility = 'public' AND min_age IS NULL AND map_cell IS NOT NULL
  AND created_at >= ($1 || '-01')::timestamp AT TIME ZONE 'UTC'
  AND created_at < (($1 || '-01')::timestamp + interval '1 month') AT TIME ZONE 'UTC'
  AND (period <> 'hour' OR created_at > statement_timestamp() - interval '8 days')
GROUP BY period, level, cell, start
