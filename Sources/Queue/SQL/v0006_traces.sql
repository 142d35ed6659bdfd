-- The traceparent of the request that submitted a job (W3C Trace Context); null if it is not traced. Additive.
ALTER TABLE job ADD COLUMN trace text;
ALTER TABLE job_done ADD COLUMN trace text;
ALTER TABLE job_dead ADD COLUMN trace text;
