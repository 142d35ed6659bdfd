import Platform
import Postgres
import Queue
import Store
import Telemetry

/// The handler of the jobs of a courier.
struct CourierHandler: JobHandler {
  /// The time after which the others of the queue have their turns.
  static let turn = Duration.seconds(30)

  /// Something became due while the job was to end.
  private struct MoreIsDue: Error {}

  let courier: any Courier
  let pool: Pool
  let store: Store
  var clock: any WorkerClock = ContinuousClock()
  var turn = Self.turn

  func handle(_ held: HeldJob, isAlone: Bool, log: Logger) async -> ServiceHealth {
    let job = held.job
    let end = ContinuousClock.now + turn
    do {
      while held.stopReason == nil {
        let hasMore = try await courier.deliver(job, isStopped: { held.stopReason != nil }, pool)
        if hasMore, ContinuousClock.now < end { continue }
        do {
          try await pool.transaction { [courier] session in
            if hasMore {
              try JobQueue.requeue(job, session)
            } else {
              // Who adds something holds the job until the commit, or finds that it has ended.
              try JobQueue.drop(job, session)
              guard try !courier.hasDue(job, session) else { throw MoreIsDue() }
            }
          }
          held.end(hasMore ? "continued" : "accepted")
          return .healthy
        } catch is MoreIsDue {}
      }
      throw held.stopReason.map { Stopped(reason: $0) } ?? Stopped(reason: .drained)
    } catch {
      let record = AttemptRecord(held: held, pool: pool, store: store, log: log, clock: clock)
      await record.write((error as? Stopped).map { .stopped($0.reason) } ?? AttemptEnding(error))
    }
    return .unknown
  }

  private struct Stopped: Error { let reason: HeldJob.StopReason }
}
