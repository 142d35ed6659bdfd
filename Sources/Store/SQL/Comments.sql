-- Comments on posts, places and collections. SUBJECT is replaced by the condition on the row of a comment that it is on what $1 names.

-- name: insert_comment
INSERT INTO comment (public_id, author, text, post_id, place_id, collection_id)
VALUES ($1::uuid, $2, $3, (SELECT id FROM post WHERE public_id = $4::uuid), $5, (SELECT id FROM collection WHERE public_id = $6::uuid))
RETURNING {comment_columns}

-- name: comment
SELECT {comment_columns} FROM comment WHERE SUBJECT AND comment.public_id = $2::uuid AND {shown(comment, $3)}

-- name: comments
SELECT {comment_columns} FROM comment
WHERE SUBJECT AND (comment.created_at, comment.id) < ($2::timestamptz, $3::bigint) AND {shown(comment, $5)}
ORDER BY comment.created_at DESC, comment.id DESC LIMIT $4::int

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
