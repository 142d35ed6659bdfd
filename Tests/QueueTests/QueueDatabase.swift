import Model
import Postgres
import PostgresTesting
import Queue
import Testing

/// The template of databases with the queue's schema, and jobs for them.
enum QueueDatabase {
  static let template = TestTemplate(name: "queue") { session in
    try Migrator(QueueMigrations.all).migrate(session)
    try session.transaction(JobHistory.addPartitions)
  }

  static func job(_ kind: String = "post", maxAttempts: Int = 5, delay: Double = 0, key: [UInt8]? = nil) -> NewJob {
    NewJob(
      publicID: .now(), queue: "media", kind: kind, delay: delay, maxAttempts: maxAttempts, deadlineSeconds: 60,
      uniqueKey: key, author: "ada", arguments: Array(#"{"post":"1"}"#.utf8))
  }
}

/// Runs a test on a session of a new database with the queue's schema.
func withSession(_ body: @escaping @Sendable (Session) throws -> Void) async throws {
  try await withDatabase(QueueDatabase.template) { url in
    let pool = Pool(url, size: 1)
    try await pool.run(body)
    await pool.close()
  }
}

/// Makes throttled jobs available as far as their limits have room; returns their number.
func grantAll(_ session: Session) throws -> Int {
  var granted = 0
  while case let more = try session.transaction(JobQueue.grant), more > 0 { granted += more }
  return granted
}

/// Makes the first statement of a kind that changes a job fail, as a transaction that a concurrent one has ended.
func failOnce(_ statement: String, _ session: Session) throws {
  try session.executeScript(
    """
    CREATE SEQUENCE attempts;
    CREATE FUNCTION fail_once() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      IF nextval('attempts') = 1 THEN RAISE EXCEPTION 'conflict' USING ERRCODE = 'deadlock_detected'; END IF;
      RETURN NULL;
    END $$;
    CREATE TRIGGER fail_once AFTER \(statement) ON job EXECUTE FUNCTION fail_once();
    """, name: "fail_once")
}

/// Registers a worker and claims the next job of the queue `media`.
func claim(_ session: Session) throws -> ClaimedJob {
  let worker = try JobQueue.register(host: "here", process: 1, session)
  return try #require(try JobQueue.claim(worker: worker, queue: "media", limit: 1, session).first)
}

/// Fails the last attempt of a job, which is dead afterwards.
func bury(_ job: ClaimedJob, error: String, _ session: Session) throws {
  try session.execute("UPDATE job SET attempt = max_attempts WHERE id = \(job.id)")
  let runsAgain = try JobQueue.fail(job, error: error, session)
  #expect(!runsAgain)
}

extension RetryPolicy {
  /// Without pauses.
  static let atOnce = RetryPolicy(firstPause: 0, maxPause: 0)
}

extension Tag {
  /// Uses the PostgreSQL server of the test run.
  @Tag static var database: Self
}

/// The queue that a notification is about; nil: the report is no notification of jobs.
func queue(of report: Listener.Report?) -> String? {
  guard case .notification(let notification) = report else { return nil }
  return JobCall(payload: notification.payload)?.queue
}
