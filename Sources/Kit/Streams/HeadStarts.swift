package import Model
internal import Platform
internal import Postgres
internal import Queue
internal import Telemetry

/// Lets the jobs that clients wait for go ahead of those that no client waits for: the rule of docs/decisions/0052-order-of-work.md.
///
/// A request only says for which job its client waits, if that job has no head start yet. One statement for all that were asked for since
/// the last one follows: no request waits for it, or fails because it fails.
package final class HeadStarts: Sendable {
  /// The most jobs of a statement. What finds no room is asked for by the next read.
  private static let room = 1000
  /// The time between two statements, and after one that failed, such as those to a database that only reads.
  private static let (pause, longPause) = (Duration.milliseconds(50), Duration.seconds(5))

  private let database: Pool
  private let log: Logger
  private let asked = Locked<Set<PublicID>>([])
  private let wake = WakeUp()

  init(database: Pool, log: Logger) {
    self.database = database
    self.log = log
  }

  /// Asks for a head start of the job that a client waits for, if it has none.
  package func ask(for job: JobSummary?) {
    guard let job, job.mayGoAhead else { return }
    let isFirst = asked.withLock { asked in
      guard asked.count < Self.room else { return false }
      return asked.insert(job.id).inserted
    }
    if isFirst { wake.raise() }
  }

  /// Gives head starts until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      await withTaskCancellationHandler {
        await wake.wait(atMost: .seconds(3600))
      } onCancel: {
        wake.raise()
      }
      let jobs = asked.withLock { asked in
        defer { asked = [] }
        return Array(asked)
      }
      guard !jobs.isEmpty else { continue }
      var pause = Self.pause
      do {
        try await database.run { try JobQueue.giveHeadStarts(to: jobs, $0) }
      } catch {
        log.warning("the jobs that clients wait for could not go ahead", ["error": "\(error)"])
        pause = Self.longPause
      }
      try? await Task.sleep(for: pause)
    }
  }
}
