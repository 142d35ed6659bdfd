-- What responses include beside their records: each part by one statement for a page, however many records it has.

-- name: named_users
-- Users with their profile images, of which each asset has a row. A user who has blocked the viewer is not there.
SELECT app_user.id, app_user.user_name, app_user.name, app_user.fields, {asset_columns}
FROM app_user LEFT JOIN asset ON asset.asset_set_id = {profile_image(app_user)}
WHERE app_user.id = ANY ($1::text[]) AND {knows(app_user.id, $2)}
ORDER BY app_user.id, asset.id

-- name: own_relations
-- What a user has to any of these, and which of the users has asked for the friendship of the user.
SELECT target, kind FROM relation WHERE user_id = $1 AND target = ANY ($2::text[])
UNION ALL
SELECT user_id, 'received' FROM relation WHERE user_id = ANY ($3::text[]) AND target = $1 AND kind = 'request'
