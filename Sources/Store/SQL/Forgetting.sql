-- The deletion of a user. Each statement of a batch takes a limited number of rows, so that no transaction is long.

-- name: lock_user
SELECT pg_advisory_xact_lock(hashtextextended('user:' || $1, 3))

-- name: is_mentioned
-- Whether something of a user is stored: not every one has a profile or posts.
SELECT EXISTS (SELECT FROM app_user WHERE id = $1) OR EXISTS (SELECT FROM comment WHERE author = $1)
  OR EXISTS (SELECT FROM image WHERE author = $1) OR EXISTS (SELECT FROM image WHERE kind = 'profile' AND owner = $1)
  OR EXISTS (SELECT FROM relation WHERE user_id = $1)
  OR EXISTS (SELECT FROM relation WHERE target = $1 AND kind IN ('friend', 'request', 'block', 'blocked'))
  OR EXISTS (SELECT FROM collection WHERE author = $1) OR EXISTS (SELECT FROM collection_member WHERE user_id = $1)
  OR EXISTS (SELECT FROM place_note WHERE user_id = $1) OR EXISTS (SELECT FROM report WHERE author = $1)
  OR EXISTS (SELECT FROM place_description WHERE user_id = $1) OR EXISTS (SELECT FROM user_token WHERE user_id = $1) AS is_mentioned

-- name: insert_forgetting
INSERT INTO forgetting (job, user_id) VALUES ($1::uuid, $2) ON CONFLICT (user_id) DO NOTHING RETURNING job

-- name: job_of_forgetting
SELECT job FROM forgetting WHERE user_id = $1

-- name: user_of_forgetting
SELECT user_id FROM forgetting WHERE job = $1::uuid

-- name: posts_of_user
SELECT public_id FROM post WHERE author = $1 ORDER BY id LIMIT $2::int

-- name: drop_comments_of_posts
DELETE FROM comment WHERE id IN (
  SELECT comment.id FROM comment JOIN post ON post.id = comment.post_id
  WHERE post.public_id = ANY ($1::uuid[]) ORDER BY comment.id LIMIT $2::int)

-- name: reactions_of_posts
SELECT image.public_id FROM image JOIN post ON post.id = image.post_id
WHERE post.public_id = ANY ($1::uuid[]) ORDER BY image.id LIMIT $2::int

-- name: images_of_user
SELECT public_id FROM image WHERE author = $1
UNION
SELECT public_id FROM image WHERE kind = 'profile' AND owner = $1
LIMIT $2::int

-- name: jobs_of_posts
SELECT job FROM post WHERE public_id = ANY ($1::uuid[]) AND job IS NOT NULL
UNION
SELECT image.job FROM image JOIN post ON post.id = image.post_id
WHERE post.public_id = ANY ($1::uuid[]) AND image.job IS NOT NULL

-- name: jobs_of_images_among
SELECT job FROM image WHERE public_id = ANY ($1::uuid[]) AND job IS NOT NULL

-- name: lock_posts
SELECT id FROM post WHERE public_id = ANY ($1::uuid[]) ORDER BY id FOR UPDATE

-- name: lock_posts_of_images
SELECT post.id FROM post
WHERE post.id IN (SELECT image.post_id FROM image WHERE image.public_id = ANY ($1::uuid[]))
ORDER BY post.id FOR UPDATE

-- name: uncount_reactions
UPDATE post SET reaction_count = reaction_count - gone.reactions
FROM (
  SELECT post_id, count(*) AS reactions FROM image
  WHERE public_id = ANY ($1::uuid[]) AND post_id IS NOT NULL AND status = 'ready' AND NOT is_hidden GROUP BY post_id) AS gone
WHERE post.id = gone.post_id

-- name: drop_images_among
DELETE FROM image WHERE public_id = ANY ($1::uuid[]) RETURNING asset_set_id, source_set_id, job

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

-- name: lock_collections_of_posts
SELECT collection.id FROM collection
WHERE collection.id IN (
  SELECT item.collection_id FROM collection_item AS item JOIN post ON post.id = item.post_id
  WHERE post.public_id = ANY ($1::uuid[]))
ORDER BY collection.id FOR NO KEY UPDATE

-- name: lock_activity_of_posts
-- The cells of the map, which triggers would lock at the commit post after post.
SELECT FROM map_activity AS activity
WHERE (period, level, cell, start) IN (
  SELECT cells.period, cells.level, cells.cell, cells.start FROM post, map_cells(post.position, post.created_at) AS cells
  WHERE post.public_id = ANY ($1::uuid[]) AND post.status = 'ready' AND post.visibility = 'public' AND post.map_cell IS NOT NULL)
ORDER BY level, period, cell, start FOR NO KEY UPDATE

-- name: lock_places_of_posts
-- Of one author: the user, then all places, before the posts are deleted one after another.
WITH author AS MATERIALIZED (
  SELECT id FROM app_user WHERE id IN (SELECT author FROM post WHERE public_id = ANY ($1::uuid[])) ORDER BY id FOR NO KEY UPDATE)
SELECT place.number FROM place
WHERE (SELECT count(*) FROM author) > 0 AND place.id IN (SELECT place_id FROM post WHERE public_id = ANY ($1::uuid[]))
ORDER BY place.id FOR NO KEY UPDATE

-- name: collections_of_user
SELECT public_id FROM collection WHERE author = $1 ORDER BY id LIMIT $2::int

-- name: lock_collections_of_member
SELECT collection.id FROM collection
WHERE collection.id IN (SELECT collection_id FROM collection_member WHERE user_id = $1)
ORDER BY collection.id LIMIT $2::int FOR NO KEY UPDATE

-- name: drop_memberships_of_user
DELETE FROM collection_member WHERE (collection_id, user_id) IN (
  SELECT collection_id, user_id FROM collection_member WHERE user_id = $1 ORDER BY collection_id LIMIT $2::int)

-- name: blank_activity_of_user
-- That something was done stays, without saying by whom.
UPDATE collection_activity SET user_id = nullif(user_id, $1), member = nullif(member, $1)
WHERE id IN (
  SELECT id FROM collection_activity WHERE user_id = $1
  UNION SELECT id FROM collection_activity WHERE member = $1 LIMIT $2::int)

-- name: drop_reports_of_user
DELETE FROM report WHERE id IN (SELECT id FROM report WHERE author = $1 ORDER BY id LIMIT $2::int)

-- name: drop_cases_of_user
DELETE FROM moderation_case WHERE id IN (SELECT id FROM moderation_case WHERE user_id = $1 ORDER BY id LIMIT $2::int)

-- name: drop_notes_of_user
DELETE FROM place_note WHERE id IN (SELECT id FROM place_note WHERE user_id = $1 ORDER BY id LIMIT $2::int)

-- name: lock_described_places
SELECT place.number FROM place
WHERE place.id IN (
  SELECT place_id FROM place_description WHERE user_id = $1 ORDER BY number LIMIT $2::int)
ORDER BY place.id FOR NO KEY UPDATE

-- name: drop_descriptions_of_user
-- What others say of the place counts. Without a description it stays as it is: it belongs to the app.
DELETE FROM place_description WHERE (place_id, rank, user_id) IN (
  SELECT place_id, rank, user_id FROM place_description WHERE user_id = $1 ORDER BY number LIMIT $2::int)

-- name: blank_places
UPDATE place SET author = NULL
WHERE id IN (SELECT id FROM place WHERE author = $1 ORDER BY id LIMIT $2::int FOR NO KEY UPDATE)

-- name: drop_responses_to_user
-- Of the user's requests, by the owner of their keys, and of others about the user, by the JSON in $2 and $3.
DELETE FROM idempotent_answer WHERE (tenant, key) IN (
  SELECT tenant, key FROM idempotent_answer
  WHERE answer_users(tenant, body) && ARRAY['/' || $1, encode($2::bytea, 'escape'), encode($3::bytea, 'escape')]
  LIMIT $4::int)

-- name: drop_events_of_user
DELETE FROM user_event WHERE user_id = $1 AND number IN (
  SELECT number FROM user_event WHERE user_id = $1 ORDER BY number LIMIT $2::int)

-- name: blank_events_by_user
-- The numbers of another user's events stay without gaps.
UPDATE user_event SET kind = 'forgotten', actor = NULL, post = NULL, subject = NULL
WHERE (user_id, number) IN (SELECT user_id, number FROM user_event WHERE actor = $1 LIMIT $2::int)

-- name: blank_finished_jobs
UPDATE job_done SET author = NULL
WHERE (tableoid, ctid) IN (SELECT tableoid, ctid FROM job_done WHERE author = $1 LIMIT $2::int)

-- name: blank_dead_jobs
UPDATE job_dead SET author = NULL, limit_name = NULL
WHERE id IN (SELECT id FROM job_dead WHERE author = $1 LIMIT $2::int)

-- name: blank_jobs
-- Those that a worker still performs: they were cancelled, and end without an effect.
UPDATE job SET author = NULL, limit_name = NULL
WHERE id IN (SELECT id FROM job WHERE author = $1 ORDER BY public_id LIMIT $2::int FOR UPDATE)

-- name: relations_of_user_or_to
-- The target of some kinds is a post or a place.
SELECT id FROM relation WHERE user_id = $1
UNION ALL
SELECT id FROM relation WHERE target = $1 AND kind IN ('friend', 'request', 'block', 'blocked')
LIMIT $2::int

-- name: lock_posts_of_relations
-- What the triggers of relations count in is locked before them, as by those who make and end relations.
SELECT post.id FROM post
WHERE public_id IN (SELECT target::uuid FROM relation WHERE id = ANY ($1::bigint[]) AND kind = 'like')
ORDER BY post.id FOR NO KEY UPDATE

-- name: lock_users_of_relations
SELECT app_user.id FROM app_user
WHERE id IN (
  SELECT user_id FROM relation WHERE id = ANY ($1::bigint[])
  UNION SELECT target FROM relation WHERE id = ANY ($1::bigint[]) AND kind IN ('friend', 'request', 'block', 'blocked'))
ORDER BY app_user.id FOR NO KEY UPDATE

-- name: lock_places_of_relations
SELECT place.number FROM place
WHERE id IN (SELECT target FROM relation WHERE id = ANY ($1::bigint[]) AND kind = 'favourite')
ORDER BY place.id FOR NO KEY UPDATE

-- name: drop_relations_among
DELETE FROM relation WHERE id = ANY ($1::bigint[])

-- name: drop_user
DELETE FROM app_user WHERE id = $1

-- name: drop_share
DELETE FROM job_share WHERE name = $1

-- name: drop_limit
DELETE FROM job_limit WHERE name = $1

-- name: blank_runs
UPDATE reprocess_run SET selection = selection #- '{selection,author}' WHERE selection #>> '{selection,author}' = $1

-- name: drop_tokens_of_user
DELETE FROM user_token WHERE user_id = $1

-- name: drop_tickets_of_user
DELETE FROM event_ticket WHERE user_id = $1

-- name: drop_event_count
DELETE FROM user_event_count WHERE user_id = $1

-- name: drop_suspension
DELETE FROM suspension WHERE user_id = $1

-- name: drop_forgetting
DELETE FROM forgetting WHERE user_id = $1

-- name: drop_usage
DELETE FROM daily_usage WHERE sender = $1

-- name: note_forgotten
INSERT INTO forgotten_user (digest) VALUES (sha256(convert_to($1, 'UTF8')))
ON CONFLICT (digest) DO UPDATE SET forgotten_at = excluded.forgotten_at

-- name: forgotten_users
-- When users were deleted, of those with the given digests.
SELECT digest, forgotten_at FROM forgotten_user WHERE digest = ANY ($1::bytea[])

-- name: drop_old_forgotten
-- No upload lives longer: it is the maximum of --upload-lifetime.
DELETE FROM forgotten_user WHERE forgotten_at < statement_timestamp() - interval '31 days'
