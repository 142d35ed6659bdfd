-- Jobs of a kind that this version does not know any more: they would wait for a newer worker.
DELETE FROM job WHERE kind = 'attribution';

-- Runs whose items a command processed by itself go on as those of workers.
UPDATE reprocess_item SET job = NULL
WHERE outcome IS NULL AND job IS NOT NULL AND run_id IN (SELECT id FROM reprocess_run WHERE is_local AND ended_at IS NULL);
