import Model
import Postgres
import PostgresTesting
import Queue
import Testing
import WaitTesting

@Suite("Queue behind a pooler", .tags(.database))
struct PoolerTests {
  private static let workers = 6
  private static let jobs = 90

  /// A worker with a connection to the pooler.
  private struct Worker: Sendable {
    let id: Int64
    let connection: Connection
  }

  @Test("concurrent workers migrate an empty database and end every job once, on two server connections")
  func life() async throws {
    try await withDatabase { url in
      try await withPooler(before: url, connections: 2) { pooled in
        let connections = try (1...Self.workers).map { try Connection(pooled, name: "pooled-\($0)") }
        try await migrate(connections)
        try await enqueue(connections)
        var workers: [Worker] = []
        for connection in connections {
          let id = try await connection.run { try JobQueue.register(host: "here", process: 1, $0) }
          workers.append(Worker(id: id, connection: connection))
        }
        let ended = try await withThrowingTaskGroup(of: [Int64].self) { group in
          for worker in workers { group.addTask { try await Self.work(worker) } }
          return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(ended.count == Self.jobs)
        #expect(Set(ended).count == Self.jobs)
        try await expectEnded(connections[0])
      }
    }
  }

  @Test("another worker takes the jobs of a lost one, and a heartbeat reports a cancellation")
  func leases() async throws {
    try await withDatabase(QueueDatabase.template) { url in
      try await withPooler(before: url, connections: 2) { pooled in
        let (lost, heir) = (try Connection(pooled, name: "lost"), try Connection(pooled, name: "heir"))
        let job = QueueDatabase.job()
        let zombie = try await lost.run { session in
          try JobQueue.enqueue(job, session)
          return try claim(session)
        }
        try await heir.run { session in
          try session.execute("UPDATE worker SET beat_at = beat_at - interval '1 hour'")
          #expect(try JobQueue.reap(session).map(\.id) == [zombie.id])
          #expect(try JobQueue.retryNow(job.publicID, session))
          let mine = try claim(session)
          #expect(mine.id == zombie.id)
          #expect(try JobQueue.cancel(job.publicID, session) == .requested)
          let reply = try JobQueue.heartbeat(worker: 0, holding: [(mine.id, mine.token)], session)
          #expect(reply.cancelled == [mine.token])
        }
        await #expect(throws: LeaseLost.self) {
          try await lost.transaction { try JobQueue.complete(zombie, .accepted, result: nil, $0) }
        }
      }
    }
  }

  /// All connections migrate at once.
  private func migrate(_ connections: [Connection]) async throws {
    try await withThrowingTaskGroup { group in
      for connection in connections {
        group.addTask {
          try await connection.run { try Migrator(QueueMigrations.all).migrate($0) }
          // It waits for another one for a fifth of a second, and is repeated as by maintenance.
          try await until {
            do {
              try await connection.run { try $0.transaction(JobHistory.addPartitions) }
              return true
            } catch let error as PostgresError where error.isLockTimeout {
              return false
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  private func enqueue(_ connections: [Connection]) async throws {
    try await withThrowingTaskGroup { group in
      for (number, connection) in connections.enumerated() {
        group.addTask {
          let jobs = (0..<(Self.jobs / Self.workers)).map { _ in QueueDatabase.job("kind-\(number)") }
          // Some by INSERT, some by COPY.
          for job in jobs.prefix(5) { try await connection.transaction { try JobQueue.enqueue(job, $0) } }
          try await connection.run { session in
            try JobQueue.enqueue(Array(jobs.dropFirst(5)), session)
            try JobQueue.notify(queue: "media", session)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Claims jobs until there are none, and ends each attempt; returns the ids of the ended jobs.
  private static func work(_ worker: Worker) async throws -> [Int64] {
    var ended: [Int64] = []
    let deadline = Deadline("no job")
    while true {
      try deadline.check()
      let claimed = try await worker.connection.run { session in
        _ = try JobQueue.promote(session)
        return try JobQueue.claim(worker: worker.id, queue: "media", limit: 4, session)
      }
      if claimed.isEmpty { return ended }
      for job in claimed {
        let hasEnded = try await worker.connection.run { session in
          try JobQueue.report(JobProgress(fraction: 0.5, stage: "half"), of: job, session)
          let reply = try JobQueue.heartbeat(worker: worker.id, holding: [(job.id, job.token)], session)
          #expect(reply == HeartbeatReply())
          return try session.transaction { try end(job, $0) }
        }
        if hasEnded { ended.append(job.id) }
      }
    }
  }

  /// Ends an attempt in a way that the job's id determines; returns whether the job has ended.
  private static func end(_ job: ClaimedJob, _ session: Session) throws -> Bool {
    switch (job.id % 5, job.attempt) {
    case (0, 1): _ = try JobQueue.fail(job, error: "try again", by: .atOnce, session)
    case (1, 1) where job.lost == 0:
      try bury(job, error: "no use", session)
      return true
    case (2, _):
      #expect(try JobQueue.cancel(job.publicID, session) == .requested)
      try JobQueue.complete(job, .cancelled, result: nil, session)
      return true
    default:
      try JobQueue.complete(job, .accepted, result: Array(#"{"verdict":"accepted"}"#.utf8), session)
      return true
    }
    return false
  }

  private func expectEnded(_ connection: Connection) async throws {
    let counts = try await connection.run { session in
      try ["job", "job_done", "job_done_rest", "job_dead", "job_progress"].map { table in
        try session.execute("SELECT count(*) FROM \(table)").single().get(0, as: Int.self)
      }
    }
    let fifth = Self.jobs / 5
    #expect(counts == [0, Self.jobs - fifth, 0, fifth, 0])
  }
}
