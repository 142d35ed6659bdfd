-- Columns that lists and an export read.

-- fragment: comment_columns
comment.id, comment.public_id, comment.author, comment.text, comment.created_at, comment.place_id AS place, comment.is_hidden,
  (SELECT post.public_id FROM post WHERE post.id = comment.post_id) AS post,
  (SELECT collection.public_id FROM collection WHERE collection.id = comment.collection_id) AS collection

-- fragment: asset_columns
asset.public_id, asset.role, asset.place, asset.blob, asset.type, asset.bytes, asset.width, asset.height, asset.duration,
  asset.thumbhash, asset.color
