import Platform
import Postgres
import PostgresTesting
import Testing

@Suite("Pool", .tags(.database))
struct PoolTests {
  @Test("No more connections than its size, and everybody gets a turn")
  func limitsConnections() async throws {
    try await withDatabase { url in
      // What is measured is who gets a turn, not how soon: a loaded machine may take its time.
      let pool = Pool(url, size: 3, timeout: .seconds(300))
      let processes = Shared(Set<Int>())
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<60 {
          group.addTask {
            try await pool.run { session in
              let process = try session.execute("SELECT pg_backend_pid()").single().get(0, as: Int.self)
              processes.withLock { _ = $0.insert(process) }
            }
          }
        }
        try await group.waitForAll()
      }
      #expect((1...3).contains(processes.withLock { $0.count }))
      await pool.close()
    }
  }

  @Test("Who waits too long is told so, and the connection stays usable")
  func patienceEnds() async throws {
    try await withDatabase { url in
      let pool = Pool(url, size: 1)
      let release = try Event()
      let (held, isHeld) = AsyncStream.makeStream(of: Void.self)
      async let holder: Void = pool.run { _ in
        isHeld.finish()
        release.wait()
      }
      for await _ in held {}
      let error = await #expect(throws: PostgresError.self) {
        try await pool.run(timeout: .milliseconds(1)) { _ in }
      }
      #expect(error?.isExhausted == true && error?.isUnavailable == false)
      release.signal()
      try await holder
      #expect(try await pool.run { try $0.execute("SELECT 1").single().get(0, as: Int.self) } == 1)
    }
  }

  @Test("Who may wait longer for a connection than for the server has his turn")
  func longCheckout() async throws {
    try await withDatabase { url in
      let pool = Pool(url, size: 1, timeout: .milliseconds(1))
      let release = try Event()
      let (held, isHeld) = AsyncStream.makeStream(of: Void.self)
      async let holder: Void = pool.run(timeout: .seconds(5)) { _ in
        isHeld.finish()
        release.wait()
      }
      for await _ in held {}
      async let patient = pool.run(timeout: .seconds(5), checkout: .seconds(600)) { session in
        try session.execute("SELECT 1").single().get(0, as: Int.self)
      }
      let error = await #expect(throws: PostgresError.self) { try await pool.run { _ in } }
      #expect(error?.isExhausted == true)
      release.signal()
      try await holder
      let one = try await patient
      #expect(one == 1)
    }
  }

  @Test("A waiter whose task is cancelled leaves the queue")
  func cancelledWaiter() async throws {
    try await withDatabase { url in
      let pool = Pool(url, size: 1)
      let release = try Event()
      let (held, isHeld) = AsyncStream.makeStream(of: Void.self)
      async let holder: Void = pool.run { _ in
        isHeld.finish()
        release.wait()
      }
      for await _ in held {}
      let waiter = Task { try await pool.run(timeout: .seconds(600)) { _ in } }
      waiter.cancel()
      await #expect(throws: CancellationError.self) { try await waiter.value }
      release.signal()
      try await holder
    }
  }

  @Test("A server that is away is an error in time, not a hang")
  func serverAway() async throws {
    let folder = try TemporaryFolder()
    let pool = Pool(DatabaseURL(socketFolder: folder.path, user: "take5", database: "take5"), size: 1)
    let error = await #expect(throws: PostgresError.self) {
      try await pool.run(timeout: .milliseconds(50)) { _ in }
    }
    #expect(error?.isUnavailable == true)
  }

  @Test("A closed pool turns callers away")
  func closed() async throws {
    try await withDatabase { url in
      let pool = Pool(url, size: 1)
      try await pool.run { _ in }
      await pool.close()
      await #expect(throws: PostgresError.self) { try await pool.run { _ in } }
    }
  }
}
