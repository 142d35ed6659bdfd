import Platform
import Postgres

/// A lock on a table that another session holds.
private final class TableLock: Sendable {
  private let isHeld = OneShot<Void>()
  private let release: Event

  init() throws { release = try Event() }

  func hold(_ table: String, _ mode: String, _ url: DatabaseURL) async throws {
    try await onThread("lock") { [self] in
      // Also fulfilled on an error, so that `wait` returns.
      defer { isHeld.fulfil(()) }
      try Session.connect(url, timeout: .seconds(5)).transaction { session in
        try session.execute("LOCK TABLE \(table) IN \(mode)")
        isHeld.fulfil(())
        release.wait()
      }
    }
  }

  func wait() async { await isHeld.value }

  func unlock() { release.signal() }
}

extension RunningAPI {
  /// Runs a body while another session holds a lock on a table.
  func whileLocked<Value>(
    _ table: String, in mode: String, _ body: () async throws -> Value
  ) async throws -> Value {
    let lock = try TableLock()
    async let holding: Void = lock.hold(table, mode, url)
    await lock.wait()
    let value: Value
    do {
      value = try await body()
      lock.unlock()
    } catch {
      lock.unlock()
      throw error
    }
    try await holding
    return value
  }

  /// Returns the number of statements that wait for a lock.
  func waitingStatements() async throws -> Int {
    try await pool.run { session in
      try session.execute(
        """
        SELECT count(*) AS count FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'
        """
      ).single().get("count")
    }
  }
}
