import Platform
package import Postgres
import PostgresTesting
import WaitTesting

extension StoreFixture {
  /// Runs two transactions: the second begins while the first waits behind a statement on a table, and waits for it there. Returns how
  /// many of them the server has ended because of the other.
  ///
  /// - Parameter event: the statement, such as `DELETE`.
  package func meet(
    _ first: @escaping @Sendable (Session) throws -> Void, holdingAfter event: String, on table: String,
    _ second: @escaping @Sendable (Session) throws -> Void
  ) async throws -> Int {
    try await pool.run { session in
      // Triggers run in the order of their names: this one before those of the schema.
      try session.executeScript(
        """
        CREATE FUNCTION wait_for_test() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN PERFORM pg_advisory_xact_lock_shared(4711); RETURN NULL; END $$;
        CREATE TRIGGER a_wait_for_test AFTER \(event) ON \(table) FOR EACH STATEMENT EXECUTE FUNCTION wait_for_test();
        """, name: "test")
    }
    let conflicts = Shared(0)
    let meeting = Pool(url, size: 2) { _ in conflicts.withLock { $0 += 1 } }
    try await whileLocked("4711") { unlock in
      async let one: Void = meeting.transaction(first)
      try await waitForLocks(1)
      async let other: Void = meeting.transaction(second)
      try await waitForLocks(2)
      unlock()
      _ = try await (one, other)
    }
    await meeting.close()
    return conflicts.withLock { $0 }
  }

  /// Runs a body while another session holds an advisory lock, which the body can release before it returns.
  package func whileLocked(_ key: String, _ body: (_ unlock: () -> Void) async throws -> Void) async throws {
    let isHeld = OneShot<Void>()
    let gate = Channel<Int>(capacity: 1)
    async let holding: Void = onThread("lock") { [url] in
      defer { isHeld.fulfil(()) }
      try Session.connect(url, timeout: .seconds(5)).transaction { session in
        try session.execute("SELECT pg_advisory_xact_lock(\(key))")
        isHeld.fulfil(())
        _ = gate.take()
      }
    }
    await isHeld.value
    do { try await body { gate.close() } } catch {
      gate.close()
      throw error
    }
    gate.close()
    try await holding
  }

  /// Waits until a number of transactions wait for locks.
  package func waitForLocks(_ count: Int) async throws {
    let waiting = "pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    try await until("\(count) transactions that wait for locks") { try await self.count(waiting) >= count }
  }
}
