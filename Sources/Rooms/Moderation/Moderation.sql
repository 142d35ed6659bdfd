-- Reports, cases and decisions. The fragments of visibility are those of Store.sql.

-- fragment: case_columns
opened.id, opened.public_id, opened.cause, opened.created_at, opened.decision, opened.decided_by, opened.note, opened.decided_at,
  opened.user_id, opened.place_id, post.public_id AS post, comment.public_id AS comment, image.public_id AS image,
  collection.public_id AS collection, comment.place_id AS commented_place,
  (SELECT commented.public_id FROM post AS commented WHERE commented.id = comment.post_id) AS commented_post,
  (SELECT commented.public_id FROM collection AS commented WHERE commented.id = comment.collection_id) AS commented_collection,
  coalesce(post.author, comment.author, {maker(image)}, collection.author, place.author, opened.user_id) AS author,
  (SELECT count(*) FROM report WHERE report.case_id = opened.id) AS reports

-- fragment: with_subjects
LEFT JOIN post ON post.id = opened.post_id LEFT JOIN comment ON comment.id = opened.comment_id
LEFT JOIN image ON image.id = opened.image_id LEFT JOIN collection ON collection.id = opened.collection_id
LEFT JOIN place ON place.id = opened.place_id

-- name: case
SELECT {case_columns} FROM moderation_case AS opened {with_subjects} WHERE opened.public_id = $1::uuid

-- name: open_cases
SELECT {case_columns} FROM moderation_case AS opened {with_subjects}
WHERE opened.decision IS NULL AND (opened.created_at, opened.id) < ($1::timestamptz, $2::bigint)
ORDER BY opened.created_at DESC, opened.id DESC LIMIT $3::int

-- name: decided_cases
SELECT {case_columns} FROM moderation_case AS opened {with_subjects}
WHERE opened.decision IS NOT NULL AND (opened.created_at, opened.id) < ($1::timestamptz, $2::bigint)
ORDER BY opened.created_at DESC, opened.id DESC LIMIT $3::int

-- name: open_case_of
-- The open case about a subject, one of the six.
SELECT opened.public_id FROM moderation_case AS opened
WHERE opened.decision IS NULL AND (
  opened.post_id = (SELECT id FROM post WHERE public_id = $1::uuid)
  OR opened.comment_id = (SELECT id FROM comment WHERE public_id = $2::uuid) OR opened.user_id = $3 OR opened.place_id = $4
  OR opened.image_id = (SELECT id FROM image WHERE public_id = $5::uuid)
  OR opened.collection_id = (SELECT id FROM collection WHERE public_id = $6::uuid))

-- name: insert_case
INSERT INTO moderation_case (public_id, post_id, comment_id, user_id, place_id, image_id, collection_id, cause)
SELECT $1::uuid, (SELECT id FROM post WHERE public_id = $2::uuid), (SELECT id FROM comment WHERE public_id = $3::uuid), $4, $5,
  (SELECT id FROM image WHERE public_id = $6::uuid), (SELECT id FROM collection WHERE public_id = $7::uuid), $8

-- name: lock_case
SELECT id FROM moderation_case WHERE public_id = $1::uuid FOR UPDATE

-- name: decide_case
UPDATE moderation_case SET decision = $2, decided_by = $3, note = $4, decided_at = clock_timestamp() WHERE public_id = $1::uuid

-- name: any_comment
-- A comment with what it is on, for a viewer.
SELECT {comment_columns} FROM comment WHERE comment.public_id = $1::uuid AND {shown(comment, $2)}

-- name: add_author
-- Who has only commented, reacted or reported has no row yet.
INSERT INTO app_user (id)
SELECT $1 WHERE EXISTS (SELECT FROM comment WHERE author = $1) OR EXISTS (SELECT FROM image WHERE author = $1)
  OR EXISTS (SELECT FROM report WHERE author = $1)
ON CONFLICT DO NOTHING

-- name: seen_user
SELECT id FROM app_user WHERE id = $1 AND {knows(app_user.id, $2)} FOR NO KEY UPDATE

-- name: moderate_post
-- The status is named for its triggers: that of the moderation sets it.
UPDATE post SET moderation = $2, status = status WHERE public_id = $1::uuid RETURNING id, author, status

-- name: hide_comment
UPDATE comment SET is_hidden = $2::boolean WHERE public_id = $1::uuid AND is_hidden <> $2::boolean

-- name: lock_image
-- One whose outputs were made: no worker changes it any more.
SELECT id FROM image WHERE public_id = $1::uuid AND status IN ('ready', 'replaced') FOR NO KEY UPDATE

-- name: hide_image
UPDATE image SET is_hidden = $2::boolean WHERE public_id = $1::uuid AND is_hidden <> $2::boolean RETURNING kind, status

-- name: hide_collection
UPDATE collection SET is_hidden = $2::boolean WHERE public_id = $1::uuid

-- name: suspend
INSERT INTO suspension (user_id) VALUES ($1) ON CONFLICT DO NOTHING

-- name: reinstate
DELETE FROM suspension WHERE user_id = $1

-- name: suspension_number
SELECT number FROM suspension_change

-- name: suspended_users
SELECT user_id FROM suspension

-- name: insert_report
INSERT INTO report (public_id, case_id, author, reason, text)
SELECT $1::uuid, id, $3, $4, $5 FROM moderation_case WHERE public_id = $2::uuid
ON CONFLICT (case_id, author) DO NOTHING

-- fragment: report_columns
report.id, report.public_id, report.author, report.reason, report.text, report.created_at, opened.decided_at, opened.user_id, opened.place_id,
  (SELECT image.public_id FROM image WHERE image.id = opened.image_id) AS image,
  (SELECT collection.public_id FROM collection WHERE collection.id = opened.collection_id) AS collection,
  (SELECT post.public_id FROM post WHERE post.id = opened.post_id) AS post,
  (SELECT comment.public_id FROM comment WHERE comment.id = opened.comment_id) AS comment

-- name: report
SELECT {report_columns} FROM report JOIN moderation_case AS opened ON opened.id = report.case_id
WHERE report.public_id = $1::uuid AND ($2::text IS NULL OR report.author = $2::text)

-- name: report_by
SELECT {report_columns} FROM report JOIN moderation_case AS opened ON opened.id = report.case_id
WHERE opened.public_id = $1::uuid AND report.author = $2

-- name: reports_of_case
SELECT {report_columns} FROM report JOIN moderation_case AS opened ON opened.id = report.case_id
WHERE opened.public_id = $1::uuid ORDER BY report.id LIMIT $2::int

-- name: reports_by_user
SELECT {report_columns} FROM report JOIN moderation_case AS opened ON opened.id = report.case_id
WHERE report.author = $1 AND report.id > $2::bigint ORDER BY report.id LIMIT $3::int

-- name: drop_reports_of_user
DELETE FROM report WHERE id IN (SELECT id FROM report WHERE author = $1 ORDER BY id LIMIT $2::int)

-- name: drop_cases_of_user
DELETE FROM moderation_case WHERE id IN (SELECT id FROM moderation_case WHERE user_id = $1 ORDER BY id LIMIT $2::int)

-- name: drop_suspension
DELETE FROM suspension WHERE user_id = $1
