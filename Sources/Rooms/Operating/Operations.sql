-- What operators see of the store. These statements read many rows: they run in the pool of lists, with its statement timeout.

-- name: rejections
-- The reasons of the rejected ones among the posts of the last day, of which at most the newest 100,000 are read.
SELECT reason->>'code' AS code, count(DISTINCT recent.id) AS posts
FROM (
  SELECT id, status, reasons FROM post
  WHERE created_at >= now() - interval '1 day' ORDER BY created_at DESC, id DESC LIMIT 100000) AS recent
CROSS JOIN LATERAL jsonb_array_elements(CASE WHEN jsonb_typeof(recent.reasons) = 'array' THEN recent.reasons END) AS reason
WHERE recent.status = 'rejected'
GROUP BY 1 ORDER BY posts DESC, code

-- name: asset_usage
-- All assets by role, by the age of their set, and by whether the set was replaced or has the sources of rejected media.
SELECT asset.role,
  CASE WHEN made.created_at > now() - interval '1 day' THEN 'day' WHEN made.created_at > now() - interval '7 days' THEN 'week'
    WHEN made.created_at > now() - interval '30 days' THEN 'month' ELSE 'older' END AS age,
  made.retired_at IS NOT NULL AS is_retired, made.rejected_at IS NOT NULL AS is_rejected, count(*) AS assets,
  sum(asset.bytes)::bigint AS bytes
FROM asset JOIN asset_set AS made ON made.id = asset.asset_set_id
GROUP BY 1, 2, 3, 4

-- name: blob_usage
-- All files by their age, and when the first of each age came. Assets with the same content have one.
SELECT CASE WHEN created_at > now() - interval '1 day' THEN 'day' WHEN created_at > now() - interval '7 days' THEN 'week'
    WHEN created_at > now() - interval '30 days' THEN 'month' ELSE 'older' END AS age,
  count(*) AS blobs, sum(bytes)::bigint AS bytes, min(created_at) AS first_at
FROM blob GROUP BY 1

-- name: damaged_blobs
SELECT encode(hash, 'hex') AS hash, kind, found_at, attempts, error FROM blob_damage ORDER BY found_at DESC, hash LIMIT 100

-- name: time
-- The end of the present millisecond: JSON has no shorter time.
SELECT date_trunc('milliseconds', clock_timestamp()) + interval '1 millisecond' AS time
