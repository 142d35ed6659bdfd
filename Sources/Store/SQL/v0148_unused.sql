-- What no statement reads or writes any more. A new database has none of it.
DROP VIEW IF EXISTS job_member;
DROP TABLE IF EXISTS job_group;
DROP TYPE IF EXISTS packed_job;
ALTER TABLE job_progress DROP COLUMN IF EXISTS checkpoint;
ALTER TABLE place DROP COLUMN IF EXISTS map_cell;
DROP INDEX IF EXISTS app_user_user_name, app_user_user_name_start;
