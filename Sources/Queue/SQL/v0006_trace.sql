-- The trace of the request that submitted a job (W3C Trace Context, traceparent); older jobs have none.
ALTER TABLE job ADD COLUMN traceparent text;
ALTER TABLE job_done ADD COLUMN traceparent text;
ALTER TABLE job_dead ADD COLUMN traceparent text;
