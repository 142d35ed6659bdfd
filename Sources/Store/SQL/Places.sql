-- Places and what users note about them, and how many posts lie where. The fragments of visibility are those of Store.sql.

-- fragment: place_columns(viewer)
-- A place for a viewer, with the latest photo of it that the viewer sees, and the viewer's own note.
place.number, place.id, place.name, place.latitude, place.longitude, array_to_json(place.categories)::text AS categories,
  place.rating, place.price_level, place.author, place.created_at, place.revision, place.post_count, place.author_count,
  place.favourite_count, place.collection_count, place.comment_count,
  (SELECT image.asset_set_id FROM image
   WHERE image.kind = 'place' AND image.owner = place.id AND image.asset_set_id IS NOT NULL
     AND {unblocked(image.author, {viewer})}
   ORDER BY image.id DESC LIMIT 1) AS asset_set_id,
  (SELECT place_note.text FROM place_note
   WHERE place_note.user_id = {viewer}::text AND place_note.place_id = place.id) AS note

-- name: place
SELECT {place_columns($2)} FROM place WHERE place.id = $1 AND is_known

-- name: places_by_id
SELECT {place_columns($2)} FROM place WHERE place.id = ANY ($1::text[]) AND is_known ORDER BY place.id

-- name: places
-- CONDITIONS and ORDER_KEY are replaced: by the conditions of the list, and by what has the largest value in the first place.
-- Which places are those of the page is decided by an index; their rows, photos and notes are read one by one, and OFFSET keeps it so.
SELECT {place_columns($4)}, chosen.key FROM (
  SELECT number, ORDER_KEY AS key FROM place
  WHERE CONDITIONS is_known AND (ORDER_KEY, number) < ($1::bigint, $2::bigint)
  ORDER BY ORDER_KEY DESC, number DESC LIMIT $3::int) AS chosen
CROSS JOIN LATERAL (SELECT * FROM place WHERE place.number = chosen.number OFFSET 0) AS place
ORDER BY chosen.key DESC, chosen.number DESC

-- name: places_by_distance
-- The same for those near a point, the nearest first, as posts_by_distance.
SELECT {place_columns($4)}, chosen.key, chosen.distance, chosen.found, chosen.reach FROM (
  SELECT number, key, distance, count(*) OVER () AS found, max(degrees) OVER () AS reach FROM (
    SELECT number, ORDER_KEY AS key, DISTANCE AS distance, position <-> point($8::float8, $5::float8) AS degrees FROM place
    WHERE CONDITIONS is_known AND (ORDER_KEY, number) < ($1::bigint, $2::bigint)
    ORDER BY position <-> point($8::float8, $5::float8) LIMIT $9::int) AS near
  ORDER BY key DESC, number DESC LIMIT $3::int) AS chosen
CROSS JOIN LATERAL (SELECT * FROM place WHERE place.number = chosen.number OFFSET 0) AS place
ORDER BY chosen.key DESC, chosen.number DESC

-- name: add_place
INSERT INTO place (id) VALUES ($1) ON CONFLICT DO NOTHING

-- name: lock_place
SELECT author, revision FROM place WHERE id = $1 FOR NO KEY UPDATE

-- name: describe_place
UPDATE place SET name = $2, latitude = $3::float8, longitude = $4::float8, categories = $5::text[], rating = $6::float8,
  price_level = $7::smallint, author = CASE revision WHEN 0 THEN $8 ELSE author END, revision = revision + 1
WHERE id = $1

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

-- name: activity
SELECT cell, sum(posts)::bigint AS posts, (sum(longitudes) / sum(posts) / 1e6)::float8 AS longitude,
  (sum(latitudes) / sum(posts) / 1e6)::float8 AS latitude
FROM map_activity
WHERE period = $1 AND level = $2::smallint AND cell = ANY ($3::bigint[]) AND start >= $4::timestamptz AND start < $5::timestamptz
GROUP BY cell ORDER BY posts DESC, cell

-- name: drop_old_activity
-- Hours that no map asks for any more.
DELETE FROM map_activity WHERE (period, level, cell, start) IN (
  SELECT period, level, cell, start FROM map_activity
  WHERE period = 'hour' AND start < clock_timestamp() - make_interval(secs => $1::float8) LIMIT 1000)
