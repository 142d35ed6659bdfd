-- What a comment is read with, in lists and in an export.

-- fragment: comment_columns
comment.id, comment.public_id, comment.author, comment.text, comment.created_at, comment.place_id, comment.is_hidden,
  (SELECT post.public_id FROM post WHERE post.id = comment.post_id) AS post,
  (SELECT collection.public_id FROM collection WHERE collection.id = comment.collection_id) AS collection
