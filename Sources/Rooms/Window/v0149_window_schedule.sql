-- When the daily window opens next; there is one row at most. Workers write it, by their option.
CREATE TABLE window_schedule (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  -- The text of the option.
  schedule text NOT NULL,
  next_at timestamptz NOT NULL,
  -- The time for which the window then stays open.
  seconds int NOT NULL
);
-- The cron schedules of the window, as the option has them; one that the option cannot express is named as it was.
INSERT INTO window_schedule (schedule, next_at, seconds)
SELECT string_agg(
    CASE WHEN fields IS NULL THEN format('cron schedule ''%s'' in %s for %s seconds', schedule, zone, seconds)
      ELSE format('%s-%s %s', regexp_replace(start::text, ':00$', ''),
        regexp_replace((start + make_interval(secs => seconds))::text, ':00$', ''), zone) END, '; ' ORDER BY next_at),
  -- A job that is to open the window at once is worth the present.
  least(min(next_at), (SELECT min(run_at) FROM job WHERE kind = 'window' AND state <> 'x')),
  (array_agg(seconds ORDER BY next_at))[1]
FROM (
  SELECT schedule, zone, next_at, coalesce((arguments ->> 'seconds')::int, 300) AS seconds,
    CASE WHEN schedule IN ('@daily', '@midnight') THEN '{0,0}'
      ELSE regexp_match(schedule, '^\s*(\d+)\s+(\d+)\s+\*\s+\*\s+\*\s*$') END AS fields
  FROM cron_entry WHERE kind = 'window' AND NOT is_paused) AS entry
CROSS JOIN LATERAL (SELECT make_time(fields[2]::int, fields[1]::int, 0) AS start) AS day
HAVING count(*) > 0;
DELETE FROM job WHERE kind = 'window' AND state <> 'x';
-- Workers of the version before, which may still run, open no windows beside these. The next version drops the table and the column.
UPDATE cron_entry SET is_paused = true WHERE kind = 'window';
ALTER TABLE daily_window ALTER COLUMN job DROP NOT NULL;
