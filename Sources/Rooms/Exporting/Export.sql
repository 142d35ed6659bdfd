-- Everything of a user, in pages by the number of the record.

-- name: assets_of_posts
-- The current outputs and the sources, which the user has submitted.
SELECT post.public_id AS owner, {asset_columns}
FROM post JOIN asset ON asset.asset_set_id IN (post.asset_set_id, post.source_set_id)
WHERE post.public_id = ANY ($1::uuid[]) ORDER BY asset.id

-- name: assets_of_images
SELECT image.public_id AS owner, {asset_columns}
FROM image JOIN asset ON asset.asset_set_id IN (image.asset_set_id, image.source_set_id)
WHERE image.public_id = ANY ($1::uuid[]) ORDER BY asset.id

-- name: belongings
-- What goes with a user who is deleted.
SELECT (SELECT count(*) FROM post WHERE author = $1) AS posts, (SELECT count(*) FROM image WHERE author = $1) AS images,
  (SELECT count(*) FROM comment WHERE author = $1) AS comments,
  (SELECT count(*) FROM collection WHERE author = $1) AS collections, media.files, media.bytes
FROM (
  SELECT count(*) AS files, coalesce(sum(asset.bytes), 0)::bigint AS bytes
  FROM asset WHERE asset_set_id IN (
    SELECT unnest(ARRAY[asset_set_id, source_set_id]) FROM post WHERE author = $1
    UNION ALL SELECT unnest(ARRAY[asset_set_id, source_set_id]) FROM image WHERE author = $1)) AS media
