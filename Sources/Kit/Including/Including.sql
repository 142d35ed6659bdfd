-- What responses include beside their records; rooms read their own part of it.

-- name: seen_posts
-- Of posts that records name, those that the viewer sees.
SELECT public_id FROM post
WHERE public_id = ANY ($1::uuid[]) AND {visible(post.author, post.visibility, post.moderation, post.status, $2)}
