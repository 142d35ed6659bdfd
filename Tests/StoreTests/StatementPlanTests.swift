import Platform
import Postgres
import PostgresTesting
import StoreTesting
import Testing

@testable import Kit
@testable import Queue
@testable import Rooms
@testable import Store

/// What runs by itself, in maintenance and in the deletion of users, reads about what it returns, however large the tables are.
@Suite("Plans of statements", .tags(.database))
struct StatementPlanTests {
  private static let rows = 20_000
  /// Far below the rows of a table, and above what a statement may read beside its index.
  private static let limit = 100

  /// A statement that finds nothing, or one row, in tables with many rows.
  private struct Probe {
    let statement: Statement
    let arguments: String
    /// The table that the statement counts, and so reads.
    let counted: String?

    init(_ statement: Statement, _ arguments: String = "", counting counted: String? = nil) {
      self.statement = statement
      self.arguments = arguments
      self.counted = counted
    }
  }

  /// What each worker, and one worker for all, repeats: `QueueWorker`, `Maintenance`, `WorkerService`. The table of workers is small, and
  /// shares last for an hour.
  private static var repeatedByWorkers: [Probe] {
    let queue = JobQueue.statements
    let uuid = "'00000000-0000-0000-0000-000000000001'"
    return [
      Probe(queue["heartbeat"], "1, '{5, 6}', '{7, 8}', NULL"), Probe(queue["take_turn"], "1, 20"),
      Probe(queue["claim"], "1, 'other', 10, 7"), Probe(queue["claimed"], "1, '{7}'"),
      Probe(queue["remaining"], "'media'"), Probe(queue["lock_limits"]), Probe(queue["grant"], "'{author:user 1}'"),
      Probe(queue["promote"], "1000"), Probe(queue["next_due"]), Probe(queue["next_expiry"]),
      Probe(queue["reap"], "3, '{compose}', 600, 86400, 1, 60"), Probe(queue["sweep"]),
      Probe(queue["fold_dead_counts"]), Probe(queue["doubt_schedules"]), Probe(queue["doubt_deadlines"]),
      Probe(queue["doubt_beats"]),
      Probe(queue["missing_days"]), Probe(queue["drop_rest"], "90"), Probe(queue["drop_dead"], "90"),
      Probe(queue["revivable"], "600, 86400, 30"), Probe(queue["redrive"], "'{}', true"),
      Probe(SetAside.statements["report"]), Probe(SetAside.statements["drop_tried"]),
      Probe(Collecting.statements["examine_released"], "100, 3600"),
      // One is due, among many that wait.
      Probe(Collecting.statements["examine_released"], "1, 0"),
      Probe(Collecting.statements["drop_released"], "'{1}'"),
      Probe(Collecting.statements["take_overdue_removals"], "60, 100"),
      Probe(Reprocessing.statements["runs_to_schedule"]), Probe(Reprocessing.statements["next_items"], "1, 10"),
      Probe(Reprocessing.statements["complete_run"], "2"),
      Probe(Reprocessing.statements["drop_old_items"], "86400"),
      Probe(Reprocessing.statements["drop_old_runs"], "86400"),
      Probe(Store.statements["retired_sets"], "86400, 100"),
      Probe(Store.statements["expired_sources_of_posts"], "86400, 100"),
      Probe(Store.statements["expired_sources_of_images"], "86400, 100"),
      Probe(Damage.statements["claim_damage"], "10"),
      Probe(Store.statements["drop_expired_responses"], "86400"), Probe(Usage.statements["drop_old_usage"]),
      Probe(Tokens.statements["drop_expired_user_tokens"], "86400"),
      Probe(Window.statements["window_schedule"]),
      Probe(
        Window.statements["open_window"], "'{64800}', '{64800}', '{300}', 'UTC', '{1,2,3,4,5,6,7}', '18:00-18:05 UTC'"),
      Probe(Webhooks.statements["due_webhooks"]), Probe(Webhooks.statements["drop_old_deliveries"]),
      Probe(Devices.statements["shards"]),
      Probe(Events.statements["drop_expired_tickets"]), Probe(Forgetting.statements["forgotten_users"], "'{}'"),
      Probe(Forgetting.statements["drop_old_forgotten"]), Probe(Events.statements["drop_old_events"], "86400"),
      Probe(Events.statements["place_events"], "0, 1000"), Probe(Events.statements["next_announcement"], "3600"),
      Probe(Events.statements["waiting"]),
      Probe(Events.statements["drop_old_announcements"], "86400"),
      Probe(Places.statements["drop_old_activity"], "86400"), Probe(Forgetting.statements["user_of_forgetting"], uuid),
    ]
  }

  /// What each service repeats: `ControlAPI.run`, `Changes`, `OpenStreams`, and what a request for its metrics measures. It reads all API
  /// keys and all suspended users, which it holds.
  private static var repeatedByServices: [Probe] {
    let uuid = "'00000000-0000-0000-0000-000000000001'"
    return [
      Probe(AwaitedUploads.statements["awaits_any"]), Probe(AwaitedUploads.statements["awaiting_posts"], "9000000"),
      Probe(Window.statements["last_window"]), Probe(Events.statements["last_events"], "'{eve}'"),
      Probe(Events.statements["events"], "'eve', 0, 500"), Probe(Events.statements["first_position"]),
      Probe(Events.statements["events_of_all"], "\(rows), 500"),
      Probe(Tokens.statements["valid_user_tokens"], "'{\(uuid.dropFirst().dropLast())}'"),
      Probe(Tokens.statements["note_uses"], "'{\(uuid.dropFirst().dropLast())}', 3600"),
      Probe(JobQueue.observing["depths"], counting: "job"), Probe(SetAside.statements["counts"]),
      Probe(Webhooks.statements["waiting_webhooks"], "20"), Probe(Webhooks.statements["failing_webhooks"]),
    ]
  }

  private static var ofRequestsAndDeletions: [Probe] {
    [
      Probe(Store.statements["idempotent_response"], "'key', '7', 86400"),
      Probe(Usage.statements["usage_today"], "'user'"),
      Probe(JobQueue.statements["give_head_starts"], "'{00000000-0000-0000-0000-000000000001}'"),
      Probe(
        JobQueue.statements["enqueue"],
        """
        '00000000-0000-0000-0000-000000000002', 'media', 'post', 0, 5, 4, 60, 'user 1', NULL, NULL, '{}', NULL,
        'author:user 1', 10, NULL, NULL, NULL
        """),
      Probe(Tokens.statements["user_token_of_user"], "'eve', '{operator}'"),
      Probe(Forgetting.statements["drop_responses_to_user"], #"'eve', '"author":"eve"', '"owner":"eve"', 1000"#),
      Probe(Forgetting.statements["blank_finished_jobs"], "'eve', 1000"),
      Probe(Forgetting.statements["blank_dead_jobs"], "'eve', 1000"),
      Probe(Events.statements["blank_events_by_user"], "'eve', 1000"),
      Probe(Events.statements["drop_announcements_by_user"], "'eve', 1000"),
    ]
  }

  /// Rows that no statement above wants: none is due, expired, dead for less than a day, or the user's.
  private static let tables = """
    SET session_replication_role = replica;
    INSERT INTO worker (host, process, lease_seconds) SELECT 'host', n, 30 FROM generate_series(1, 20) AS n;
    INSERT INTO job (public_id, queue, kind, state, rank, run_at, deadline_seconds, author, limit_name)
    SELECT gen_random_uuid(), 'media', 'post', CASE WHEN n % 2 = 0 THEN 's' ELSE 'a' END::"char", n,
      clock_timestamp() + interval '1 hour' + make_interval(secs => n), 60, 'user ' || n % 1000, 'author:user ' || n % 1000
    FROM generate_series(1, \(2 * rows)) AS n;
    INSERT INTO job_dead (id, public_id, queue, kind, priority, attempt, max_attempts, lost, deadline_seconds, author,
      created_at, died_at, postponed_at, arguments)
    SELECT n + 1000000, gen_random_uuid(), 'media', 'post', 5, 4, 4, 0, 60, 'user ' || n % 1000, clock_timestamp() - interval '3 days',
      clock_timestamp() - interval '2 days', CASE WHEN n % 2 = 0 THEN clock_timestamp() - interval '3 days' END, '{}'
    FROM generate_series(1, \(rows)) AS n;
    INSERT INTO job_dead_count (queue, kind, jobs, attempts, lost) VALUES ('media', 'post', \(rows), 4 * \(rows), 0);
    INSERT INTO job_limit (name, most) SELECT 'author:user ' || n, 1 FROM generate_series(1, \(rows)) AS n;
    INSERT INTO worker_loss (worker_id, job_id) SELECT n, n FROM generate_series(1, 20) AS n;
    INSERT INTO job_done (id, public_id, queue, kind, outcome, attempt, max_attempts, lost, author, created_at, finished_at, arguments)
    SELECT n + 2000000, gen_random_uuid(), 'media', 'post', 'a', 1, 4, 0, 'user ' || n % 1000, clock_timestamp(), clock_timestamp(), '{}'
    FROM generate_series(1, \(rows)) AS n;
    INSERT INTO idempotent_answer (tenant, key, fingerprint, status, body)
    SELECT 'key/user ' || n % 1000, n::text, '', 202, convert_to('{"author":"user ' || n % 1000 || '"}', 'UTF8')
    FROM generate_series(1, \(rows)) AS n;
    INSERT INTO asset_set (public_id, retired_at) SELECT gen_random_uuid(), clock_timestamp()
    FROM generate_series(1, \(rows)) AS n;
    INSERT INTO asset_set (public_id, rejected_at) SELECT gen_random_uuid(), clock_timestamp()
    FROM generate_series(1, \(rows)) AS n;
    INSERT INTO daily_usage (day, sender, posts, bytes)
    SELECT (clock_timestamp() AT TIME ZONE 'UTC')::date, 'user ' || n, 1, 1 FROM generate_series(1, \(rows)) AS n;
    INSERT INTO forgotten_user (digest) SELECT sha256(n::text::bytea) FROM generate_series(1, \(rows)) AS n;
    INSERT INTO awaited_upload (upload, post_id, part, place)
    SELECT gen_random_uuid(), n, 'photo', 0 FROM generate_series(1, \(rows)) AS n;
    INSERT INTO blob_release (hash) SELECT sha256(n::text::bytea) FROM generate_series(1, \(rows)) AS n;
    INSERT INTO blob_damage (hash, kind, next_at) SELECT sha256(n::text::bytea), 'missing', clock_timestamp() + interval '1 hour'
    FROM generate_series(1, \(rows)) AS n;
    INSERT INTO user_event (user_id, number, kind, actor, position)
    SELECT 'user ' || n % 1000, n, 'comment', 'user ' || n % 999, n FROM generate_series(1, \(rows)) AS n;
    INSERT INTO webhook (public_id, url, kinds, secret) VALUES (gen_random_uuid(), 'https://example.org', '{comment}', decode(repeat('00', 24), 'hex'));
    INSERT INTO webhook_delivery (webhook_id, position, order_key, state) SELECT 1, n, n % 100, 'delivered'
    FROM generate_series(1, \(rows)) AS n;
    INSERT INTO push_delivery (device_id, position, shard, expires_at, next_at)
    SELECT n % 1000, n, 0, clock_timestamp() + interval '1 day', clock_timestamp() + interval '1 hour' FROM generate_series(1, \(rows)) AS n;
    INSERT INTO announcement (kind, actor, post, after) SELECT 'friend_posted', 'user ' || n % 1000, gen_random_uuid(), NULL
    FROM generate_series(1, \(rows)) AS n;
    INSERT INTO event_ticket (hash, user_id, minter, expires_at)
    SELECT sha256(n::text::bytea), 'user', 'operator', clock_timestamp() + interval '1 hour' FROM generate_series(1, \(rows)) AS n;
    INSERT INTO user_token (public_id, user_id, hash, minter, expires_at)
    SELECT gen_random_uuid(), 'user ' || n % 1000, sha256(n::text::bytea), 'operator', clock_timestamp() + interval '1 hour'
    FROM generate_series(1, \(rows)) AS n;
    INSERT INTO map_activity (period, level, cell, start, posts, longitudes, latitudes)
    SELECT 'hour', 0, n, clock_timestamp(), 1, 0, 0 FROM generate_series(1, \(rows)) AS n;
    INSERT INTO reprocess_item (run_id, subject_kind, subject, definition, outcome, ended_at)
    SELECT 1, 'post', gen_random_uuid(), '', 'done', clock_timestamp() FROM generate_series(1, \(rows)) AS n;
    INSERT INTO reprocess_run (id, public_id, selection, state, ended_at)
    OVERRIDING SYSTEM VALUE SELECT 2 + n, gen_random_uuid(), '{}', 'completed', clock_timestamp() FROM generate_series(1, \(rows)) AS n;
    INSERT INTO reprocess_run (id, public_id, selection, keeps_old, is_forced, is_local, priority)
    OVERRIDING SYSTEM VALUE VALUES (2, gen_random_uuid(), '{}', false, false, false, 5);
    INSERT INTO reprocess_item (run_id, subject_kind, subject, definition)
    SELECT 2, 'post', gen_random_uuid(), '' FROM generate_series(1, \(rows)) AS n;
    RESET session_replication_role;
    ANALYZE;
    SET plan_cache_mode = force_generic_plan
    """

  @Test("no statement that is repeated, and none of a deletion, reads a multiple of the rows that it returns")
  func indexed() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        try session.executeScript(Self.tables, name: "tables")
        for probe in Self.repeatedByWorkers + Self.repeatedByServices + Self.ofRequestsAndDeletions {
          let read = try Self.rowsRead(by: probe, session)
          #expect(read <= Self.limit, "\(probe.statement.name) reads \(read) rows")
        }
      }
    }
  }

  /// The rows that a statement reads with the plan that is prepared once for all parameters.
  private static func rowsRead(by probe: Probe, _ session: Session) throws -> Int {
    try session.executeScript("PREPARE probe AS \(probe.statement.text)", name: "PREPARE")
    let arguments = probe.arguments.isEmpty ? "" : "(\(probe.arguments))"
    let plan = try StatementPlan(of: "EXECUTE probe\(arguments)", [], session)
    try session.executeScript("DEALLOCATE probe", name: "DEALLOCATE")
    return plan.rows(besides: probe.counted)
  }
}
