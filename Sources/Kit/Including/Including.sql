-- What responses include beside their records: each part by one statement for a page, however many records it has.

-- name: named_users
-- Users with their profile images, of which each asset has a row. A join with the ids reads the hash index, which = ANY would not.
SELECT app_user.id, app_user.user_name, app_user.name, app_user.fields, {asset_columns}
FROM unnest($1::text[]) AS named (id) JOIN app_user ON app_user.id = named.id
LEFT JOIN asset ON asset.asset_set_id = {profile_image(app_user)}
ORDER BY app_user.id, asset.id

-- name: own_relations
-- What a user has to any of these, and which of the users has asked for the friendship of the user. All that the user has is read from
-- the index and compared with a hash of the ids: a probe for each id would touch four pages.
SELECT target, kind FROM relation WHERE user_id = $1 AND target IN (SELECT unnest($2::text[]))
UNION ALL
SELECT user_id, 'received' FROM relation WHERE user_id = ANY ($3::text[]) AND target = $1 AND kind = 'request'

-- name: seen_posts
-- Of posts that records name, those that the viewer sees.
SELECT public_id FROM post
WHERE public_id = ANY ($1::uuid[]) AND {visible(post.author, post.visibility, post.moderation, post.status, $2)}
