-- Reports, cases and decisions. The fragments of visibility are those of Fragments.sql.

-- fragment: case_columns
opened.id, opened.public_id, opened.cause, opened.created_at, opened.decision, opened.decided_by, opened.note, opened.decided_at,
  {subject_ids}, comment.place_id AS commented_place,
  (SELECT commented.public_id FROM post AS commented WHERE commented.id = comment.post_id) AS commented_post,
  (SELECT commented.public_id FROM collection AS commented WHERE commented.id = comment.collection_id) AS commented_collection,
  coalesce({subject_authors}) AS author,
  (SELECT count(*) FROM report WHERE report.case_id = opened.id) AS reports

-- name: case
SELECT {case_columns} FROM moderation_case AS opened LEFT JOIN comment ON comment.id = opened.comment_id WHERE opened.public_id = $1::uuid

-- name: open_cases
SELECT {case_columns} FROM moderation_case AS opened LEFT JOIN comment ON comment.id = opened.comment_id
WHERE opened.decision IS NULL AND (opened.created_at, opened.id) < ($1::timestamptz, $2::bigint)
ORDER BY opened.created_at DESC, opened.id DESC LIMIT $3::int

-- name: decided_cases
SELECT {case_columns} FROM moderation_case AS opened LEFT JOIN comment ON comment.id = opened.comment_id
WHERE opened.decision IS NOT NULL AND (opened.created_at, opened.id) < ($1::timestamptz, $2::bigint)
ORDER BY opened.created_at DESC, opened.id DESC LIMIT $3::int

-- name: open_case_of(column, subject)
-- The open case about the subject $1.
SELECT public_id FROM moderation_case WHERE decision IS NULL AND {column} = {subject}

-- name: insert_case(column, subject)
INSERT INTO moderation_case (public_id, {column}, cause) SELECT $2::uuid, {subject}, $3

-- name: lock_case
SELECT id FROM moderation_case WHERE public_id = $1::uuid FOR UPDATE

-- name: decide_case
UPDATE moderation_case SET decision = $2, decided_by = $3, note = $4, decided_at = clock_timestamp() WHERE public_id = $1::uuid

-- name: deciding_keys
-- The API keys, among those given, that have decided a case, which names the number of its key as a text.
SELECT id FROM unnest($1::bigint[]) AS key (id) WHERE EXISTS (SELECT FROM moderation_case WHERE decided_by = key.id::text)

-- name: suspend
INSERT INTO suspension (user_id) VALUES ($1) ON CONFLICT DO NOTHING

-- name: reinstate
DELETE FROM suspension WHERE user_id = $1

-- name: insert_report
INSERT INTO report (public_id, case_id, author, reason, text)
SELECT $1::uuid, id, $3, $4, $5 FROM moderation_case WHERE public_id = $2::uuid
ON CONFLICT (case_id, author) DO NOTHING

-- fragment: report_columns
report.id, report.public_id, report.author, report.reason, report.text, report.created_at, opened.decided_at, {subject_ids}

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
