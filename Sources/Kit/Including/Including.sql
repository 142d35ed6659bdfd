-- What responses include beside their records; what rooms have of it they read themselves.

-- name: seen_posts
-- Of posts that records name, those that the viewer sees.
SELECT public_id FROM post
WHERE public_id = ANY ($1::uuid[]) AND {visible(post.author, post.visibility, post.moderation, post.status, $2)}
