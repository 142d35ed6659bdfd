import Model
package import Postgres
import Queue

/// The start of items as jobs. A run has only a limited number of jobs at a time, so that a pause or a cancellation
/// takes effect soon.
extension Reprocessing {
  /// The largest number of jobs of a run at a time.
  private static let window = 500

  /// Enqueues jobs for the next items of all runs, and completes the runs that have no items left, in the caller's
  /// transaction.
  ///
  /// Any worker may call it at any time: the row lock of a run excludes other workers. The caller notifies the workers
  /// of `ReprocessJob.queue` (`JobQueue.notify`).
  ///
  /// - Returns: the number of new jobs; nil: no run is running.
  @discardableResult
  package static func schedule(_ session: Session) throws -> Int? {
    var jobs = 0
    let runs = Array(try session.execute(Self.statements["runs_to_schedule"]))
    guard !runs.isEmpty else { return nil }
    for run in runs {
      let number: Int64 = try run.get("id")
      let room = Self.window - (try run.get("started", as: Int.self))
      let items = min(Double(room), try run.get("allowed", as: Double.self)).rounded(.down)
      guard items >= 1 else { continue }
      let started = try start(Int(items), ofRun: number, priority: try run.get("priority"), session)
      if started > 0 {
        try session.execute(Self.statements["advance_rate"], .integer(number), .integer(started))
      } else {
        try session.execute(Self.statements["complete_run"], .integer(number))
      }
      jobs += started
    }
    return jobs
  }

  private static func start(_ items: Int, ofRun run: Int64, priority: Int, _ session: Session) throws -> Int {
    let rows = Array(try session.execute(Self.statements["next_items"], .integer(run), .integer(items)))
    guard !rows.isEmpty else { return 0 }
    let jobs = try rows.map { row in
      NewJob(
        publicID: .now(), queue: ReprocessJob.queue, kind: ReprocessJob.kind, priority: priority, maxAttempts: 3,
        deadlineSeconds: ReprocessJob.deadlineSeconds, definition: try row.get("definition"),
        arguments: try JSON.encode(ReprocessJob(subject: try Self.subject(row))))
    }
    try session.execute(
      Self.statements["start_items"], .integer(run), .texts(try rows.map { try $0.publicID("subject").description }),
      .texts(jobs.map(\.publicID.description)))
    try JobQueue.enqueue(jobs, session)
    return jobs.count
  }
}
