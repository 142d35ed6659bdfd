import Model
package import Postgres
import Queue

/// Items of runs become jobs, some at a time: a run that is paused or cancelled leaves few behind.
extension Store {
  /// So many items of a run are jobs at a time.
  private static let window = 500

  /// Turns the next items of runs into jobs, and ends the runs that have none left, in the caller's transaction.
  ///
  /// Any worker may, at any time: each run is fed by one at a time. Announce `ReprocessJob.queue` after the commit.
  ///
  /// - Returns: how many jobs there are now that were not before.
  @discardableResult
  package func feedRuns(_ session: Session) throws -> Int {
    var jobs = 0
    for run in Array(try session.execute(Self.runStatements["runs_to_feed"])) {
      let number: Int64 = try run.get("id")
      let room = Self.window - (try run.get("begun", as: Int.self))
      let items = min(Double(room), try run.get("allowed", as: Double.self)).rounded(.down)
      guard items >= 1 else { continue }
      let begun = try begin(Int(items), ofRun: number, priority: try run.get("priority"), session)
      if begun > 0 {
        try session.execute(Self.runStatements["note_rate"], .integer(number), .integer(begun))
      } else {
        try session.execute(Self.runStatements["complete_run"], .integer(number))
      }
      jobs += begun
    }
    return jobs
  }

  private func begin(_ items: Int, ofRun run: Int64, priority: Int, _ session: Session) throws -> Int {
    let rows = Array(try session.execute(Self.runStatements["next_items"], .integer(run), .integer(items)))
    guard !rows.isEmpty else { return 0 }
    let jobs = try rows.map { row in
      NewJob(
        publicID: .now(), queue: ReprocessJob.queue, kind: ReprocessJob.kind, priority: priority, maxAttempts: 3,
        deadlineSeconds: ReprocessJob.deadlineSeconds, definition: try row.get("definition"),
        arguments: try JSON.encode(ReprocessJob(subject: try Self.subject(row))))
    }
    try session.execute(
      Self.runStatements["begin_items"], .integer(run), .texts(try rows.map { try $0.publicID("subject").description }),
      .texts(jobs.map(\.publicID.description)))
    try JobQueue.enqueue(jobs, session)
    return jobs.count
  }
}
