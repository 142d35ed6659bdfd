-- Images: lists and deletion.

-- name: images
SELECT {image_columns} FROM image WHERE kind = $1 AND owner = $2 AND asset_set_id IS NOT NULL AND id < $3::bigint
  AND {shown_image(image, $5)}
ORDER BY id DESC LIMIT $4::int

-- name: images_of_authors
SELECT {image_columns} FROM image WHERE kind = $1 AND owner = $2 AND asset_set_id IS NOT NULL AND id < $3::bigint AND author = ANY ($6::text[])
  AND {shown_image(image, $5)}
ORDER BY id DESC LIMIT $4::int

-- name: current_image
-- The image with all of its assets, and the bytes of the asset of one role if they are stored in the database.
SELECT image.public_id AS image, image.author, image.alternative_text, image.status, image.created_at,
  {public_image(image)} AS is_public,
  {asset_columns}, asset_set.recipe,
  CASE WHEN asset.role = $3 THEN (SELECT inline_content FROM blob WHERE blob.hash = asset.blob) END AS inline_content,
  damage.kind AS damage, damage.error IS NOT NULL AS is_lost
FROM (SELECT * FROM image WHERE kind = $1 AND owner = $2 AND asset_set_id IS NOT NULL AND NOT is_hidden AND {shown_image(image, $4)}
      ORDER BY id DESC LIMIT 1) AS image
JOIN asset_set ON asset_set.id = image.asset_set_id
JOIN asset ON asset.asset_set_id = image.asset_set_id
LEFT JOIN blob_damage AS damage ON damage.hash = asset.blob
ORDER BY asset.id

-- name: drop_image
DELETE FROM image WHERE public_id = $1::uuid RETURNING asset_set_id, source_set_id, job

-- name: drop_images
DELETE FROM image WHERE kind = $1 AND owner = $2 RETURNING asset_set_id, source_set_id, job

-- name: jobs_of_images
SELECT job FROM image WHERE kind = $1 AND owner = $2 AND job IS NOT NULL AND status IN ('processing', 'failed') ORDER BY 1

-- name: lock_owner
-- The same for a deletion of the images of an owner.
SELECT pg_advisory_xact_lock(hashtextextended($1 || ':' || $2, 0))

-- name: lock_itinerary
-- Serializes the submissions and deletions of thumbnails by users, who see each other's images after it.
SELECT pg_advisory_xact_lock(hashtextextended('itinerary:' || $1, 2))

-- name: has_foreign_thumbnail
-- Whether an itinerary has a thumbnail that another user submitted, or one without an author.
SELECT FROM image
WHERE kind = 'itinerary' AND owner = $1 AND status IN ('processing', 'ready', 'failed') AND author IS DISTINCT FROM $2
LIMIT 1

-- name: images_by_user
SELECT id, public_id, kind, owner, alternative_text, status, created_at FROM image WHERE author = $1 AND id > $2::bigint
UNION
SELECT id, public_id, kind, owner, alternative_text, status, created_at FROM image
WHERE kind = 'profile' AND owner = $1 AND id > $2::bigint
ORDER BY id LIMIT $3::int

-- name: images_of_user
SELECT public_id FROM image WHERE author = $1
UNION
SELECT public_id FROM image WHERE kind = 'profile' AND owner = $1
LIMIT $2::int

-- name: jobs_of_images_among
SELECT job FROM image WHERE public_id = ANY ($1::uuid[]) AND job IS NOT NULL

-- name: lock_posts_of_images
SELECT post.id FROM post
WHERE post.id IN (SELECT image.post_id FROM image WHERE image.public_id = ANY ($1::uuid[]))
ORDER BY post.id FOR UPDATE

-- name: uncount_reactions
UPDATE post SET reaction_count = reaction_count - gone.reactions
FROM (
  SELECT post_id, count(*) AS reactions FROM image
  WHERE public_id = ANY ($1::uuid[]) AND post_id IS NOT NULL AND status = 'ready' AND NOT is_hidden GROUP BY post_id) AS gone
WHERE post.id = gone.post_id

-- name: drop_images_among
DELETE FROM image WHERE public_id = ANY ($1::uuid[]) RETURNING asset_set_id, source_set_id, job

-- name: reactions_of_posts
SELECT image.public_id FROM image JOIN post ON post.id = image.post_id
WHERE post.public_id = ANY ($1::uuid[]) ORDER BY image.id LIMIT $2::int

-- name: has_post
-- The lock prevents the deletion of the post until the transaction ends.
SELECT id FROM post WHERE public_id = $1::uuid AND {visible(author, visibility, moderation, status, $2)} FOR KEY SHARE

-- name: lock_image
-- One whose outputs were made: no worker changes it any more.
SELECT id FROM image WHERE public_id = $1::uuid AND status IN ('ready', 'replaced') FOR NO KEY UPDATE

-- name: hide_image
UPDATE image SET is_hidden = $2::boolean WHERE public_id = $1::uuid AND is_hidden <> $2::boolean RETURNING kind, status
