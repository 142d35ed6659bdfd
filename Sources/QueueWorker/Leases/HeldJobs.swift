import Platform
import Queue

/// The jobs whose leases this worker holds now: by token, since the next attempt at a job may begin here before all that
/// follows from the last one is done.
final class HeldJobs: Sendable {
  private let jobs = Locked<[Int64: HeldJob]>([:])

  /// Adds a job that was just claimed.
  func add(_ held: HeldJob) { jobs.withLock { $0[held.job.token] = held } }

  /// Takes away a job whose attempt is over.
  func remove(_ held: HeldJob) { jobs.withLock { $0[held.job.token] = nil } }

  /// All of them.
  var all: [HeldJob] { jobs.withLock { Array($0.values) } }

  /// The one with this token, if it is still held.
  subscript(token: Int64) -> HeldJob? { jobs.withLock { $0[token] } }

  /// Asks every attempt to stop.
  func stopAll(_ reason: HeldJob.Stop) { for held in all { held.stop(reason) } }
}
