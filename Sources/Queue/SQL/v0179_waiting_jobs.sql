-- The jobs of an author that wait in a queue: their number says how far ahead the fair share of the author may be. A job leaves the index with
-- its first attempt.
CREATE INDEX job_waiting ON job (author, queue) WHERE author IS NOT NULL AND state IN ('a', 'p');
