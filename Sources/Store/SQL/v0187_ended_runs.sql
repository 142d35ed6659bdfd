-- Runs are dropped some time after they have ended.
CREATE INDEX reprocess_run_ended ON reprocess_run (ended_at) WHERE ended_at IS NOT NULL;
