-- Comments on posts, places and collections. The subject is the condition on the row of a comment that it is on what $1 names.

-- fragment: comment_columns
comment.id, comment.public_id, comment.author, comment.text, comment.created_at, comment.edited_at, comment.place_id AS place, comment.is_hidden,
  (SELECT post.public_id FROM post WHERE post.id = comment.post_id) AS post,
  (SELECT collection.public_id FROM collection WHERE collection.id = comment.collection_id) AS collection

-- name: insert_comment
INSERT INTO comment (public_id, author, text, post_id, place_id, collection_id)
VALUES ($1::uuid, $2, $3, (SELECT id FROM post WHERE public_id = $4::uuid), $5, (SELECT id FROM collection WHERE public_id = $6::uuid))
RETURNING {comment_columns}

-- name: comment(subject)
SELECT {comment_columns} FROM comment WHERE {subject} AND comment.public_id = $2::uuid AND {shown(comment, $3)}

-- name: comments(subject)
SELECT {comment_columns} FROM comment
WHERE {subject} AND (comment.created_at, comment.id) < ($2::timestamptz, $3::bigint) AND {shown(comment, $5)}
ORDER BY comment.created_at DESC, comment.id DESC LIMIT $4::int

-- name: change_comment
UPDATE comment SET text = $2, edited_at = CASE WHEN text = $2 THEN edited_at ELSE clock_timestamp() END
WHERE public_id = $1::uuid RETURNING {comment_columns}

-- name: drop_comment
DELETE FROM comment WHERE public_id = $1::uuid

-- name: count_comments_of_post
UPDATE post SET comment_count = comment_count + $2::int WHERE public_id = $1::uuid

-- name: count_comments_of_place
UPDATE place SET comment_count = comment_count + $2::int WHERE id = $1

-- name: count_comments_of_collection
UPDATE collection SET comment_count = comment_count + $2::int WHERE public_id = $1::uuid

-- name: comments_by_user
SELECT {comment_columns} FROM comment WHERE author = $1 AND id > $2::bigint ORDER BY id LIMIT $3::int

-- name: comments_of_user
SELECT id FROM comment WHERE author = $1 ORDER BY id LIMIT $2::int

-- name: lock_posts_of_comments
SELECT post.id FROM post
WHERE post.id IN (SELECT comment.post_id FROM comment WHERE comment.id = ANY ($1::bigint[]))
ORDER BY post.id FOR UPDATE

-- name: lock_places_of_comments
SELECT place.number FROM place
WHERE place.id IN (SELECT comment.place_id FROM comment WHERE comment.id = ANY ($1::bigint[]))
ORDER BY place.id FOR NO KEY UPDATE

-- name: lock_collections_of_comments
SELECT collection.id FROM collection
WHERE collection.id IN (SELECT comment.collection_id FROM comment WHERE comment.id = ANY ($1::bigint[]))
ORDER BY collection.id FOR NO KEY UPDATE

-- name: drop_comments
WITH gone AS (DELETE FROM comment WHERE id = ANY ($1::bigint[]) RETURNING post_id, place_id, collection_id, is_hidden),
of_collections AS (
  UPDATE collection SET comment_count = comment_count - gone.comments
  FROM (SELECT collection_id, count(*) AS comments FROM gone WHERE NOT is_hidden GROUP BY collection_id) AS gone
  WHERE collection.id = gone.collection_id),
of_posts AS (
  UPDATE post SET comment_count = comment_count - gone.comments
  FROM (SELECT post_id, count(*) AS comments FROM gone WHERE NOT is_hidden GROUP BY post_id) AS gone
  WHERE post.id = gone.post_id)
UPDATE place SET comment_count = comment_count - gone.comments
FROM (SELECT place_id, count(*) AS comments FROM gone WHERE NOT is_hidden GROUP BY place_id) AS gone
WHERE place.id = gone.place_id

-- name: any_comment
-- A comment with what it is on, for a viewer.
SELECT {comment_columns} FROM comment WHERE comment.public_id = $1::uuid AND {shown(comment, $2)}

-- name: hide_comment
UPDATE comment SET is_hidden = $2::boolean WHERE public_id = $1::uuid AND is_hidden <> $2::boolean
