-- What a service leaves in its tables while it works, as if it had been stopped in the middle: a row of each kind that a running one
-- would take away.
INSERT INTO announcement (kind, actor, post) SELECT 'post', author, public_id FROM post WHERE status = 'ready' LIMIT 1 ON CONFLICT DO NOTHING;
INSERT INTO awaited_upload (upload, post_id, part, place) SELECT gen_random_uuid(), id, 'front', 0 FROM post LIMIT 1 ON CONFLICT DO NOTHING;
INSERT INTO blob_damage (hash, kind, next_at) SELECT hash, 'missing', now() + interval '1 year' FROM blob LIMIT 1 ON CONFLICT DO NOTHING;
INSERT INTO blob_release (hash) SELECT hash FROM blob LIMIT 1 ON CONFLICT DO NOTHING;
INSERT INTO blob_removal (hash, bytes) VALUES (sha256('gone'), 4) ON CONFLICT DO NOTHING;
INSERT INTO collection_hold (ends_at) VALUES (now()) ON CONFLICT DO NOTHING;
INSERT INTO cron_entry (name, schedule, zone, queue, kind, deadline_seconds, next_at) VALUES ('yearly', '0 0 1 1 *', 'UTC', 'nowhere', 'post', 60, now() + interval '1 year') ON CONFLICT DO NOTHING;
INSERT INTO daily_usage (day, sender, posts, bytes) VALUES (current_date, 'user ada', 1, 1) ON CONFLICT DO NOTHING;
INSERT INTO daily_window (job, opened_at, closes_at) VALUES (gen_random_uuid(), now(), now() + interval '5 minutes') ON CONFLICT DO NOTHING;
INSERT INTO event_ticket (hash, user_id, minter, expires_at) VALUES (sha256('ticket'), 'ada', 'operator', now() + interval '1 year') ON CONFLICT DO NOTHING;
INSERT INTO forgetting (job, user_id) VALUES (gen_random_uuid(), 'stranger') ON CONFLICT DO NOTHING;
INSERT INTO job (kind, public_id, queue, attempt, max_attempts, lost, created_at, arguments, state, rank, run_at, deadline_seconds)
  VALUES ('post', gen_random_uuid(), 'nowhere', 1, 5, 0, now(), '{}', 'a', 1, now(), 120) ON CONFLICT DO NOTHING;
INSERT INTO job_dead (id, kind, public_id, queue, attempt, max_attempts, lost, created_at, arguments, priority, deadline_seconds, died_at, last_error)
  VALUES (1000000000, 'post', gen_random_uuid(), 'nowhere', 1, 5, 0, now(), '{}', 5, 120, now(), 'the disk is broken') ON CONFLICT DO NOTHING;
INSERT INTO job_limit (name, most) VALUES ('stranger', 3) ON CONFLICT DO NOTHING;
INSERT INTO job_progress (job_id, token, fraction, stage) SELECT id, 1, 0.5, 'compose' FROM job LIMIT 1 ON CONFLICT DO NOTHING;
INSERT INTO job_share (name, next_rank) VALUES ('stranger', 1) ON CONFLICT DO NOTHING;
INSERT INTO maintenance_turn (worker_id, ends_at) VALUES (1, now()) ON CONFLICT DO NOTHING;
INSERT INTO media_crash (inputs, crashes, last_error) VALUES (sha256('crash'), 1, 'the process ended') ON CONFLICT DO NOTHING;
INSERT INTO quarantined_input (inputs, role, blob) SELECT sha256('crash'), 'front', hash FROM blob LIMIT 1 ON CONFLICT DO NOTHING;
INSERT INTO one_time_code (user_id, purpose, hash, email) SELECT user_id, 'verification', sha256('code'), 'cleo@example.org' FROM account LIMIT 1 ON CONFLICT DO NOTHING;
INSERT INTO push_broadcast (shard, position, expires_at, last) VALUES (16, 0, now() + interval '1 year', 1) ON CONFLICT DO NOTHING;
INSERT INTO push_delivery (device_id, position, shard, expires_at, next_at) SELECT id, 0, shard, now() + interval '1 year', now() + interval '1 year' FROM device LIMIT 1 ON CONFLICT DO NOTHING;
INSERT INTO push_provider (provider, seen_at) VALUES ('apns', now()) ON CONFLICT DO NOTHING;
INSERT INTO removal_count (slot, removals) VALUES (70000, 1) ON CONFLICT DO NOTHING;
INSERT INTO row_set_aside (relation, row_key, error, until) VALUES ('place', 'nowhere', 'raises', now() + interval '1 year') ON CONFLICT DO NOTHING;
INSERT INTO webhook_delivery (webhook_id, position, order_key, next_at) SELECT id, 0, 0, now() + interval '1 year' FROM webhook LIMIT 1 ON CONFLICT DO NOTHING;
INSERT INTO worker (host, process, lease_seconds) VALUES ('elsewhere', 1, 3600);
INSERT INTO worker_loss (worker_id) VALUES (1) ON CONFLICT DO NOTHING;
