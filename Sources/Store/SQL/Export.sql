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

-- name: images_by_user
SELECT id, public_id, kind, owner, alternative_text, status, created_at FROM image WHERE author = $1 AND id > $2::bigint
UNION
SELECT id, public_id, kind, owner, alternative_text, status, created_at FROM image
WHERE kind = 'profile' AND owner = $1 AND id > $2::bigint
ORDER BY id LIMIT $3::int

-- name: comments_by_user
SELECT {comment_columns} FROM comment WHERE author = $1 AND id > $2::bigint ORDER BY id LIMIT $3::int

-- name: collections_by_user
SELECT id, public_id FROM collection WHERE author = $1 AND id > $2::bigint ORDER BY id LIMIT $3::int

-- name: notes_by_user
SELECT id, place_id, text, created_at, updated_at FROM place_note
WHERE user_id = $1 AND id > $2::bigint ORDER BY id LIMIT $3::int

-- name: descriptions_by_user
SELECT number, place_id, name, latitude, longitude, array_to_json(categories)::text AS categories, rating, price_level
FROM place_description WHERE user_id = $1 AND rank = 2 AND number > $2::bigint ORDER BY number LIMIT $3::int

-- name: relations_by_user
SELECT id, kind, target, created_at FROM relation
WHERE user_id = $1 AND kind <> 'blocked' AND id > $2::bigint ORDER BY id LIMIT $3::int
