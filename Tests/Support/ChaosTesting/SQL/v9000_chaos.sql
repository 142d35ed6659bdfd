-- The schema of a run, in addition to the queue's: the tables of the application, and triggers that record transitions.

-- Orders, written in the transaction that enqueues their jobs, so that an application can repeat the transaction.
CREATE TABLE chaos_order (
  id uuid PRIMARY KEY,
  absorbed bool NOT NULL DEFAULT false,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The effects of jobs. There is no key, so that a duplicate effect is stored.
CREATE TABLE chaos_effect (
  job uuid NOT NULL,
  token bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The changes of jobs' states and tokens; a row is rolled back together with its change.
CREATE TABLE chaos_transition (
  id bigint GENERATED ALWAYS AS IDENTITY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  transaction bigint NOT NULL DEFAULT txid_current(),
  job uuid NOT NULL,
  from_state text,
  to_state text,
  from_token bigint,
  to_token bigint,
  worker bigint,
  lost int NOT NULL,
  run_at timestamptz NOT NULL
);
CREATE FUNCTION chaos_record_transition() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO chaos_transition (job, to_state, to_token, lost, run_at)
    VALUES (NEW.public_id, NEW.state, NEW.token, NEW.lost, NEW.run_at);
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO chaos_transition (job, from_state, from_token, worker, lost, run_at)
    VALUES (OLD.public_id, OLD.state, OLD.token, OLD.worker_id, OLD.lost, OLD.run_at);
  ELSIF OLD.state IS DISTINCT FROM NEW.state OR OLD.token IS DISTINCT FROM NEW.token THEN
    INSERT INTO chaos_transition (job, from_state, to_state, from_token, to_token, worker, lost, run_at)
    VALUES (NEW.public_id, OLD.state, NEW.state, OLD.token, NEW.token, coalesce(NEW.worker_id, OLD.worker_id),
            NEW.lost, NEW.run_at);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER chaos_transition AFTER INSERT OR UPDATE OR DELETE ON job
FOR EACH ROW EXECUTE FUNCTION chaos_record_transition();

-- The processes of workers, which remain after the queue has removed the rows of the workers.
CREATE TABLE chaos_worker (
  worker bigint PRIMARY KEY,
  process int NOT NULL,
  lease_seconds float8 NOT NULL
);
CREATE FUNCTION chaos_record_worker() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO chaos_worker (worker, process, lease_seconds) VALUES (NEW.id, NEW.process, NEW.lease_seconds);
  RETURN NULL;
END $$;
CREATE TRIGGER chaos_worker AFTER INSERT ON worker FOR EACH ROW EXECUTE FUNCTION chaos_record_worker();

CREATE FUNCTION chaos_age_history() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  CREATE TABLE job_done_20200101 PARTITION OF job_done
  FOR VALUES FROM ('2020-01-01 00:00:00+00') TO ('2020-01-02 00:00:00+00');
  EXECUTE format('DROP TABLE job_done_%s',
    to_char(clock_timestamp() AT TIME ZONE 'UTC' + interval '2 days', 'YYYYMMDD'));
END $$;
