import Crypto
package import Model
package import Postgres
import Queue

/// The start of items as jobs. A run has only a limited number of jobs at a time, so that a pause or a cancellation
/// takes effect soon.
extension Store {
  /// The largest number of jobs of a run at a time.
  private static let window = 500

  /// Enqueues jobs for the next items of all runs, and completes the runs that have no items left, in the caller's
  /// transaction.
  ///
  /// Any worker may call it at any time: the row lock of a run excludes other workers. The caller notifies the workers
  /// of `ReprocessJob.queue` (`JobQueue.notify`).
  ///
  /// - Returns: the number of new jobs.
  @discardableResult
  package func scheduleRuns(_ session: Session) throws -> Int {
    var jobs = 0
    for run in Array(try session.execute(Self.runStatements["runs_to_schedule"])) {
      let number: Int64 = try run.get("id")
      let room = Self.window - (try run.get("started", as: Int.self))
      let items = min(Double(room), try run.get("allowed", as: Double.self)).rounded(.down)
      guard items >= 1 else { continue }
      let started = try start(Int(items), ofRun: number, priority: try run.get("priority"), session)
      if started > 0 {
        try session.execute(Self.runStatements["advance_rate"], .integer(number), .integer(started))
      } else {
        try session.execute(Self.runStatements["complete_run"], .integer(number))
      }
      jobs += started
    }
    return jobs
  }

  private func start(_ items: Int, ofRun run: Int64, priority: Int, _ session: Session) throws -> Int {
    let rows = Array(try session.execute(Self.runStatements["next_items"], .integer(run), .integer(items)))
    guard !rows.isEmpty else { return 0 }
    let jobs = try rows.map { row in
      NewJob(
        publicID: .now(), queue: ReprocessJob.queue, kind: ReprocessJob.kind, priority: priority, maxAttempts: 3,
        deadlineSeconds: ReprocessJob.deadlineSeconds, definition: try row.get("definition"),
        arguments: try JSON.encode(ReprocessJob(subject: try Self.subject(row))))
    }
    try session.execute(
      Self.runStatements["start_items"], .integer(run), .texts(try rows.map { try $0.publicID("subject").description }),
      .texts(jobs.map(\.publicID.description)))
    try JobQueue.enqueue(jobs, session)
    return jobs.count
  }
}

/// Local runs, whose items the command processes itself.
extension Store {
  /// Requeues the items that a process took and did not complete. Later writes of that process for these items fail.
  package func resume(local run: ReprocessRun, _ session: Session) throws(PostgresError) {
    try session.execute(Self.runStatements["requeue_items"], .integer(run.number))
  }

  /// Claims the next item; nil if none waits, or the run is not running.
  package func claimItem(of run: ReprocessRun, _ session: Session) throws -> LocalItem? {
    let job = PublicID.now()
    let rows = try session.execute(
      Self.runStatements["claim_item"], .integer(run.number), .text(job.description))
    guard let row = rows.first else { return nil }
    guard let definition = SHA256Digest(bytes: try row.get("definition")) else { throw StoreError.noDefinition(job) }
    return LocalItem(job: job, subject: try Self.subject(row), definition: definition)
  }

  /// Reads the work of an item from one snapshot; nil if the item has an outcome already.
  package func work(for item: LocalItem, _ session: Session) throws -> Work? {
    try session.snapshot { session in
      try reprocessingWork(on: item.subject, by: item.definition, job: item.job, session)
    }
  }

  /// Completes the run if all items have an outcome.
  package func complete(local run: ReprocessRun, _ session: Session) throws(PostgresError) {
    try session.execute(Self.runStatements["complete_run"], .integer(run.number))
  }
}

/// An item of a local run that this process has claimed.
package struct LocalItem: Sendable {
  /// The id that fences the writes for the item. No job has it.
  package let job: PublicID
  package let subject: Subject
  let definition: SHA256Digest
}
