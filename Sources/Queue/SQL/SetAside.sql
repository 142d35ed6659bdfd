-- name: set_aside
-- A row that is set aside is noted once until its next turn.
INSERT INTO row_set_aside AS known (relation, row_key, error, until)
VALUES ($1, $2, $3, clock_timestamp() + interval '1 hour')
ON CONFLICT (relation, row_key) DO UPDATE SET error = excluded.error, until = excluded.until, is_reported = false
WHERE known.until <= clock_timestamp()

-- name: report
UPDATE row_set_aside SET is_reported = true
WHERE (relation, row_key) IN (SELECT relation, row_key FROM row_set_aside WHERE NOT is_reported LIMIT 1000 FOR UPDATE SKIP LOCKED)
RETURNING relation, row_key, error

-- name: drop_tried
-- What has not been set aside again since its turn has been served, or is gone.
DELETE FROM row_set_aside WHERE is_reported AND until < statement_timestamp() - interval '1 hour'

-- name: counts
SELECT relation, count(*) AS rows FROM row_set_aside WHERE until > statement_timestamp() GROUP BY relation
