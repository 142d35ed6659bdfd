-- name: insert_awaited_uploads
-- $2 to $4 are lists of equal length. An upload that another post awaits is not inserted.
INSERT INTO awaited_upload (upload, post_id, part, place, request, trace)
SELECT upload, (SELECT id FROM post WHERE public_id = $1::uuid), part, place, $5, $6
FROM unnest($2::uuid[], $3::text[], $4::smallint[]) AS awaited (upload, part, place)
ON CONFLICT (upload) DO NOTHING

-- name: awaited_uploads
SELECT awaited.upload, awaited.part FROM awaited_upload AS awaited JOIN post ON post.id = awaited.post_id
WHERE post.public_id = $1::uuid ORDER BY awaited.part, awaited.place

-- name: awaits_any
SELECT 1 AS one FROM awaited_upload LIMIT 1

-- name: awaiting_posts
-- The posts that await uploads, after one, as far as the index of the uploads has them.
SELECT post.id, post.public_id
FROM (SELECT DISTINCT post_id FROM awaited_upload WHERE post_id > $1 ORDER BY post_id LIMIT 1000) AS awaited
JOIN post ON post.id = awaited.post_id ORDER BY post.id

-- name: end_awaiting
-- The first of several transactions that end the waiting of a post gets its rows. The post is locked before them, as by a deletion.
WITH locked AS MATERIALIZED (SELECT id FROM post WHERE public_id = $1::uuid FOR NO KEY UPDATE)
DELETE FROM awaited_upload USING locked WHERE locked.id = awaited_upload.post_id
RETURNING awaited_upload.request, awaited_upload.trace

-- name: start_processing
UPDATE post SET job = $2::uuid, source_set_id = $3::bigint
WHERE public_id = $1::uuid AND status = 'processing' AND job IS NULL RETURNING author
