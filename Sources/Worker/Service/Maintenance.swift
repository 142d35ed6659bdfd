import Logging
import Model
import Platform
import Postgres
import Queue
import Store

/// Looks after what others left behind: dead workers, passed deadlines, jobs whose time has come, days of history.
///
/// Every worker does it, without a leader: each statement skips what another holds.
struct Maintenance: Sendable {
  let configuration: WorkerConfiguration
  let pool: Pool
  let store: Store
  let wake: WakeUp
  let log: Logger

  /// Goes on until its task is cancelled.
  func run() async {
    let clock = ContinuousClock()
    var nextReap = clock.now
    var nextHistory = clock.now
    while !Task.isCancelled {
      do {
        if clock.now >= nextReap {
          // Set before: a chore that fails waits for its next turn, and does not keep the others from theirs.
          nextReap = clock.now + configuration.reapInterval
          try await reap()
        }
        if clock.now >= nextHistory {
          nextHistory = clock.now + .seconds(3600)
          try await pool.run { [store] session in
            try JobQueue.prepareHistory(session)
            while try store.dropExpiredAnswers(session) > 0 {}
          }
        }
        let promoted = try await pool.run { session in try JobQueue.promote(session) }
        if promoted > 0 { wake.raise() }
      } catch is CancellationError {
        return
      } catch {
        log.warning("the queue could not be looked after", ["error": "\(error)"])
      }
      try? await Task.sleep(for: configuration.pollInterval)
    }
  }

  private func reap() async throws {
    let reaped = try await pool.transaction { [store] session in try store.reap(session) }
    // What a worker released and died before it could collect.
    try await pool.transaction { [store] session in try store.collectReleased(session) }
    for job in reaped {
      log.warning("a job was taken from its worker", ["job": job.publicID.description, "state": job.state.rawValue])
    }
  }
}
