import Platform
import Postgres
import PostgresTesting
import Testing
import WaitTesting

@Suite("Pool", .tags(.database))
struct PoolTests {
  @Test("the pool opens no more connections than its size, and every caller gets one")
  func limitsConnections() async throws {
    try await withDatabase { url in
      // A long timeout, for loaded machines.
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

  @Test(
    "what only reads has its limits, and what else uses the connection has its own",
    arguments: [Pooling.session, .transaction])
  func limitsOfReads(pooling: Pooling) async throws {
    try await withDatabase { url in
      var limited = url.with(statementLimit: .seconds(60)).with(readLimit: .seconds(2)).with(readLockLimit: .seconds(1))
      limited.pooling = pooling
      let pool = Pool(limited, size: 1)
      let limits = { @Sendable (session: Session) in
        try session.transaction { session in
          try ["statement_timeout", "lock_timeout"].map { name in
            try session.execute("SELECT current_setting('\(name)')").single().get(0, as: String.self)
          }
        }
      }
      for _ in 0..<2 {
        let (read, other) = (try await pool.read(limits), try await pool.run(limits))
        #expect(read == ["2s", "1s"] && other == ["1min", "0"])
      }
      await pool.close()
    }
  }

  @Test(
    "what a client asks for waits for locks for a time of its own, on whatever connection",
    arguments: [Pooling.session, .transaction])
  func lockLimitOfRequests(pooling: Pooling) async throws {
    try await withDatabase { url in
      var limited = url.with(requestLockLimit: .seconds(5)).with(readLockLimit: .seconds(1))
      limited.pooling = pooling
      let pool = Pool(limited, size: 1)
      let limit = { @Sendable (session: Session) throws -> String in
        try session.transaction { session in
          try session.execute("SELECT current_setting('lock_timeout')").single().get(0, as: String.self)
        }
      }
      for _ in 0..<2 {
        let own = try await pool.run(limit)
        let (request, read) = try await PoolClient.$current.withValue(PoolClient("ada", isShared: false)) {
          (try await pool.run(limit), try await pool.read(limit))
        }
        #expect(own == "0" && request == "5s" && read == "1s")
      }
      await pool.close()
    }
  }

  @Test("a caller that waits too long gets an error, and the connection stays usable")
  func checkoutTimeout() async throws {
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
      // Times that are over before the caller waits.
      for _ in 0..<200 {
        await #expect(throws: PostgresError.self) { try await pool.run(timeout: .zero) { _ in } }
      }
      release.signal()
      try await holder
      #expect(try await pool.run { try $0.execute("SELECT 1").single().get(0, as: Int.self) } == 1)
    }
  }

  @Test("a caller with a longer checkout timeout gets a connection")
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
      async let waiting = pool.run(timeout: .seconds(5), checkout: .seconds(600)) { session in
        try session.execute("SELECT 1").single().get(0, as: Int.self)
      }
      let error = await #expect(throws: PostgresError.self) { try await pool.run { _ in } }
      #expect(error?.isExhausted == true)
      release.signal()
      try await holder
      let one = try await waiting
      #expect(one == 1)
    }
  }

  @Test("patient callers leave half of the connections to others, and use them one after the other")
  func patientCallers() async throws {
    try await withDatabase { url in
      let pool = Pool(url, size: 2, timeout: .seconds(60))
      let release = try Gate()
      let patient = Shared(0)
      let (held, isHeld) = AsyncStream.makeStream(of: Void.self)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<3 {
          group.addTask {
            try await pool.run(checkout: .seconds(600)) { _ in
              patient.withLock { $0 += 1 }
              isHeld.finish()
              release.wait()
            }
          }
        }
        for await _ in held {}
        // More of them than there are connections wait, or will.
        for _ in 0..<10 { try await pool.run { _ = try $0.execute("SELECT 1") } }
        #expect(patient.withLock { $0 } == 1)
        release.signal()
        try await group.waitForAll()
      }
      #expect(patient.withLock { $0 } == 3)
    }
  }

  @Test("clients that wait take turns, however many tasks each of them has, and one that is cancelled has none")
  func turns() async throws {
    try await withDatabase { url in
      let pool = Pool(url, size: 1, timeout: .seconds(600))
      let release = try Event()
      let order = Shared<[String]>([])
      let (held, isHeld) = AsyncStream.makeStream(of: Void.self)
      async let first: Void = pool.run { _ in
        isHeld.finish()
        release.wait()
      }
      for await _ in held {}
      let waiting = ["ada", "ada", "ada", "bob", "carl", "bob", "ada"].map { user in
        // It runs until it waits.
        Task.immediate {
          try await PoolClient.$current.withValue(PoolClient(user, isShared: false)) {
            try await pool.run { _ in order.withLock { $0.append(user) } }
          }
        }
      }
      waiting[6].cancel()
      await #expect(throws: CancellationError.self) { try await waiting[6].value }
      release.signal()
      try await first
      for task in waiting.dropLast() { try await task.value }
      #expect(order.withLock { $0 } == ["ada", "bob", "carl", "ada", "bob", "ada"])
    }
  }

  @Test("a client uses a share of the connections, whatever its tasks wait for", arguments: [(false, 2), (true, 3)])
  func shares(isShared: Bool, share: Int) async throws {
    try await withDatabase { url in
      let pool = Pool(url, size: 4, timeout: .seconds(600))
      let client = PoolClient("ada", isShared: isShared)
      let release = try Gate()
      let running = Shared(0)
      let tasks = (0..<40).map { _ in
        Task.immediate {
          try await PoolClient.$current.withValue(client) {
            try await pool.run { _ in
              running.withLock { $0 += 1 }
              release.wait()
            }
          }
        }
      }
      try await until { running.withLock { $0 } == share }
      let error = await #expect(throws: PostgresError.self) {
        try await PoolClient.$current.withValue(client) { try await pool.run(checkout: .milliseconds(10)) { _ in } }
      }
      #expect(error?.isShareUsed == true)
      // Others have the rest.
      for _ in 0..<3 { try await pool.run { _ = try $0.execute("SELECT 1") } }
      #expect(running.withLock { $0 } == share)
      release.signal()
      for task in tasks { try await task.value }
    }
  }

  @Test("what one client uses is half of what others leave, so that several of them do not take all")
  func severalClients() async throws {
    try await withDatabase { url in
      let pool = Pool(url, size: 8, timeout: .seconds(600))
      let release = try Gate()
      let running = Shared<[String: Int]>([:])
      func tasks(_ count: Int, of user: String, isShared: Bool = false) -> [Task<Void, any Error>] {
        (0..<count).map { _ in
          Task.immediate {
            try await PoolClient.$current.withValue(PoolClient(user, isShared: isShared)) {
              try await pool.run { _ in
                running.withLock { $0[user, default: 0] += 1 }
                release.wait()
              }
            }
          }
        }
      }
      var all: [Task<Void, any Error>] = []
      for (user, share) in [("ada", 4), ("bob", 2), ("carl", 1)] {
        all += tasks(6, of: user)
        try await until { running.withLock { $0[user] } == share }
      }
      // The last one is for a client that has none.
      try await PoolClient.$current.withValue(PoolClient("dora", isShared: false)) {
        for _ in 0..<8 { try await pool.run { _ = try $0.execute("SELECT 1") } }
      }
      #expect(running.withLock { $0 } == ["ada": 4, "bob": 2, "carl": 1])
      // A key's share differs from a user's.
      all += tasks(1, of: "key", isShared: true)
      try await until { running.withLock { $0["key"] } == 1 }
      release.signal()
      for task in all { try await task.value }
    }
  }

  @Test("in a pool that bounds what waits, a task beyond its client's share is refused at once")
  func waiting() async throws {
    try await withDatabase { url in
      let pool = Pool(url, size: 1, boundsWaiting: true, timeout: .seconds(600))
      let release = try Gate()
      func task(_ user: String) -> Task<Void, any Error> {
        Task.immediate {
          try await PoolClient.$current.withValue(PoolClient(user, isShared: false)) {
            try await pool.run { _ in release.wait() }
          }
        }
      }
      let tasks = (0..<33).map { _ in task("ada") } + [task("bob")]
      let error = await #expect(throws: PostgresError.self) { try await task("ada").value }
      #expect(error?.isShareUsed == true)
      release.signal()
      for task in tasks { try await task.value }
    }
  }

  @Test("a waiting caller whose task is cancelled gets an error")
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

  @Test("an unreachable server is an error after the timeout")
  func unreachable() async throws {
    let folder = try TemporaryFolder()
    let pool = Pool(DatabaseURL(socketFolder: folder.path, user: "take5", database: "take5"), size: 1)
    let error = await #expect(throws: PostgresError.self) {
      try await pool.run(timeout: .milliseconds(50)) { _ in }
    }
    #expect(error?.isUnavailable == true)
  }

  @Test("a closed pool refuses callers")
  func closed() async throws {
    try await withDatabase { url in
      let pool = Pool(url, size: 1)
      try await pool.run { _ in }
      await pool.close()
      await #expect(throws: PostgresError.self) { try await pool.run { _ in } }
    }
  }

  @Test("a transaction that the server ends because of a deadlock runs again, and both commit")
  func deadlock() async throws {
    try await withDatabase { url in
      let conflicts = Shared(0)
      let pool = Pool(url, size: 2) { error in
        #expect(error.sqlState == "40P01")
        conflicts.withLock { $0 += 1 }
      }
      try await pool.run { try $0.executeScript("CREATE TABLE t AS SELECT 1 AS a UNION SELECT 2", name: "t") }
      let holdsFirst = try Event()
      let holdsSecond = try Event()
      let add = { @Sendable (own: Int) async throws in
        let isFirst = Shared(true)
        try await pool.transaction { session in
          try session.executeScript("SET LOCAL deadlock_timeout = '10ms'", name: "SET")
          try session.execute("UPDATE t SET a = a + 10 WHERE a % 10 = \(own + 1)")
          if isFirst.withLock({ isFirst in
            defer { isFirst = false }
            return isFirst
          }) {
            if own == 0 {
              holdsFirst.signal()
              holdsSecond.wait()
            } else {
              holdsSecond.signal()
              holdsFirst.wait()
            }
          }
          try session.execute("UPDATE t SET a = a + 10 WHERE a % 10 = \(2 - own)")
        }
      }
      async let one: Void = add(0)
      async let other: Void = add(1)
      _ = try await (one, other)
      // Its repetition may lock its first row before the other one does, and meet it once more.
      #expect(conflicts.withLock { $0 } >= 1)
      let rows = try await pool.run { try $0.execute("SELECT a FROM t ORDER BY a").map { try $0.get(0, as: Int.self) } }
      #expect(rows == [21, 22])
      await pool.close()
    }
  }

  @Test("a transaction that meets others each time fails in the end", arguments: ["40001", "40P01"])
  func conflictWithoutEnd(state: String) async throws {
    try await withDatabase { url in
      let (runs, conflicts) = (Shared(0), Shared(0))
      let pool = Pool(url, size: 1) { _ in conflicts.withLock { $0 += 1 } }
      let error = await #expect(throws: PostgresError.self) {
        try await pool.transaction { session in
          runs.withLock { $0 += 1 }
          try session.executeScript("DO $$ BEGIN RAISE EXCEPTION USING ERRCODE = '\(state)'; END $$", name: "DO")
        }
      }
      #expect(error?.isConflict == true)
      #expect(runs.withLock { $0 } == 6 && conflicts.withLock { $0 } == 6)
      await pool.close()
    }
  }
}

/// An event that several closures wait for.
private final class Gate: Sendable {
  private let event: Event

  init() throws { event = try Event() }

  func wait() { event.wait() }

  func signal() { event.signal() }
}
