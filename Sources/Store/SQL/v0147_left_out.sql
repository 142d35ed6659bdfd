-- Jobs of a kind that this version does not know any more: they would wait for a newer worker.
DELETE FROM job WHERE kind = 'attribution';
