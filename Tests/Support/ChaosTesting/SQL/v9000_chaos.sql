-- What a run of chaos adds to the queue's schema: the application's own tables, and a witness of every change of a job.

-- What was ordered, written in the transaction that enqueues: the pattern by which an application repeats safely.
CREATE TABLE chaos_order (
  id uuid PRIMARY KEY,
  absorbed bool NOT NULL DEFAULT false,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- What jobs do. No key: whatever would be done twice must be seen twice.
CREATE TABLE chaos_effect (
  job uuid NOT NULL,
  token bigint NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Every change of a job's state or holder, by the database's clock; it is rolled back with the change.
CREATE TABLE chaos_passage (
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
CREATE FUNCTION chaos_note_passage() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'INSERT' THEN
    INSERT INTO chaos_passage (job, to_state, to_token, lost, run_at)
    VALUES (NEW.public_id, NEW.state, NEW.token, NEW.lost, NEW.run_at);
  ELSIF TG_OP = 'DELETE' THEN
    INSERT INTO chaos_passage (job, from_state, from_token, worker, lost, run_at)
    VALUES (OLD.public_id, OLD.state, OLD.token, OLD.worker_id, OLD.lost, OLD.run_at);
  ELSIF OLD.state IS DISTINCT FROM NEW.state OR OLD.token IS DISTINCT FROM NEW.token THEN
    INSERT INTO chaos_passage (job, from_state, to_state, from_token, to_token, worker, lost, run_at)
    VALUES (NEW.public_id, OLD.state, NEW.state, OLD.token, NEW.token, coalesce(NEW.worker_id, OLD.worker_id),
            NEW.lost, NEW.run_at);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER chaos_passage AFTER INSERT OR UPDATE OR DELETE ON job
FOR EACH ROW EXECUTE FUNCTION chaos_note_passage();

-- Which process was which worker: the queue's own row goes when the worker does.
CREATE TABLE chaos_worker (
  worker bigint PRIMARY KEY,
  process int NOT NULL,
  lease_seconds float8 NOT NULL
);
CREATE FUNCTION chaos_note_worker() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO chaos_worker (worker, process, lease_seconds) VALUES (NEW.id, NEW.process, NEW.lease_seconds);
  RETURN NULL;
END $$;
CREATE TRIGGER chaos_worker AFTER INSERT ON worker FOR EACH ROW EXECUTE FUNCTION chaos_note_worker();

CREATE FUNCTION chaos_age_history() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  CREATE TABLE job_done_20200101 PARTITION OF job_done
  FOR VALUES FROM ('2020-01-01 00:00:00+00') TO ('2020-01-02 00:00:00+00');
  EXECUTE format('DROP TABLE job_done_%s',
    to_char(clock_timestamp() AT TIME ZONE 'UTC' + interval '2 days', 'YYYYMMDD'));
END $$;
