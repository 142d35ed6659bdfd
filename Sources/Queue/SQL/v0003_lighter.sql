-- A job costs less on its way in. An insertion opens every index and reads every constraint of the table: two indexes serve
-- what four did, and what every statement writes as a constant is not checked again.

-- Few jobs execute, so whoever looks for deadlines can look at all of them.
DROP INDEX job_deadline;
-- Those of a limit by their state, and the parked ones in their order.
CREATE INDEX job_limit_state ON job (limit_name, state, rank, id) WHERE limit_name IS NOT NULL;
DROP INDEX job_parked;
DROP INDEX job_limited;
ALTER TABLE job DROP CONSTRAINT job_state_check;
ALTER TABLE job DROP CONSTRAINT job_priority_check;
-- A claim changes the state, which indexes have: it never finds room in the same page worth keeping free.
ALTER TABLE job SET (fillfactor = 100);
