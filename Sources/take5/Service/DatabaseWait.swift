import Platform
import Postgres
import Telemetry

/// The wait of a service or a worker for its database.
extension ServiceProcess {
  /// The pause between two attempts; each attempt waits for the database itself.
  private static let pause = Duration.seconds(1)
  /// The time for which the end of the process waits for an attempt that is cancelled: its server may be silent.
  private static let endTimeout = Duration.seconds(2)

  /// Repeats `open` until the database is there. A service manager that waits for the process is notified that it waits. A signal cancels
  /// the attempt, which may be a migration.
  ///
  /// - Parameters:
  ///   - onWait: called when the wait begins.
  ///   - open: fails with an outage (`PostgresError.isOutage`) as long as the database is away; any other error ends the wait.
  /// - Returns: nil if the process is asked to end before the database can be used.
  func awaitingDatabase<Value: Sendable>(
    onWait: @escaping @Sendable () throws -> Void = {}, _ open: @escaping @Sendable () async throws -> Value
  ) async throws -> Value? {
    // Of a task of its own: an attempt that waits for a server that is silent does not delay the end of the process.
    let outcome = OneShot<Result<Value?, any Error>>()
    let isWaiting = Locked(false)
    let opening = Task {
      do {
        let value = try await repeating(open) {
          try onWait()
          isWaiting.withLock { $0 = true }
        }
        outcome.fulfil(.success(value))
      } catch {
        outcome.fulfil(Task.isCancelled ? .success(nil) : .failure(error))
      }
    }
    signals.onRequest {
      opening.cancel()
      // An embedded server, which is none to wait for, is stopped in order.
      guard isWaiting.withLock(\.self) else { return }
      Task {
        do { try await Task.sleep(for: Self.endTimeout) } catch { return }
        outcome.fulfil(.success(nil))
      }
    }
    let result = await outcome.value
    signals.onRequest(nil)
    return try result.get()
  }

  private func repeating<Value: Sendable>(
    _ open: @Sendable () async throws -> Value, onWait: () throws -> Void
  ) async throws -> Value {
    var report = LastingReport()
    while true {
      do {
        let value = try await open()
        if report.hasBegun {
          log.info("the database can be used: the wait is over")
          ServiceManager.notify(nil, status: "", log)
        }
        return value
      } catch let error as PostgresError where error.isOutage && !Task.isCancelled {
        // Before a service manager that waits for the process goes on.
        if !report.hasBegun { try onWait() }
        if report.isDue(at: .now) {
          log.error(
            "the database cannot be used: waiting for it",
            ["error": error.message, "remedy": error.remedy ?? "check that the database runs and accepts writes"])
          ServiceManager.notify(.ready, status: "waiting for the database: \(error.message)", log)
        }
      }
      try await Task.sleep(for: Self.pause)
    }
  }
}
