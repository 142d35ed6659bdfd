-- The progress of a job goes with the job, whatever ends it. A statement that deletes both leaves a report for which it has waited: it does not
-- see what was committed since it began.
LOCK TABLE job, job_progress IN SHARE ROW EXCLUSIVE MODE;
DELETE FROM job_progress WHERE NOT EXISTS (SELECT FROM job WHERE job.id = job_progress.job_id);
ALTER TABLE job_progress ADD FOREIGN KEY (job_id) REFERENCES job ON DELETE CASCADE;
