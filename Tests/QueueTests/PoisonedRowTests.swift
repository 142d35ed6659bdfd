import Model
import Postgres
import PostgresTesting
import Telemetry
import Testing

@testable import Queue

/// A statement of the queue works for all jobs, or for all workers. Each case has one row with a value that could end it, before a row
/// without one, which is served.
@Suite("A value of one row and the other rows of the queue", .tags(.database))
struct PoisonedRowTests {
  enum Case: String, CaseIterable {
    case claimedAttempts, claimedDeadline, claimedTime, lease, infiniteLease, leaseWithoutNumber, losses, blames
    case executingDeadline, priority, figures
  }

  @Test("the other row is served", arguments: Case.allCases)
  func served(_ poisoned: Case) async throws {
    try await withSession { session in
      let (bad, good) = (QueueDatabase.job(), QueueDatabase.job())
      func claim() throws -> [PublicID] {
        let worker = try JobQueue.register(host: "here", process: 1, session)
        return try JobQueue.claim(worker: worker, queue: "media", limit: 10, session).map(\.publicID)
      }
      /// Claims each job by a worker of its own, poisons the first one or its worker, and reaps.
      func reap(_ poison: String, ending condition: String = "true") throws -> [PublicID] {
        for job in [bad, good] {
          try JobQueue.enqueue(job, session)
          _ = try claim()
        }
        try session.execute(Statement(name: "poison", text: poison))
        try session.execute(
          Statement(
            name: "end", text: "UPDATE worker SET beat_at = clock_timestamp() - interval '1 hour' WHERE \(condition)"))
        #expect(try JobQueue.workers(session).count == 2)
        let reaped = try JobQueue.reap(session).map(\.publicID)
        _ = try JobQueue.nextExpiry(session)
        return reaped
      }
      func claimed(_ poison: String) throws -> [PublicID] {
        for job in [bad, good] { try JobQueue.enqueue(job, session) }
        try session.execute(Statement(name: "poison", text: poison + " WHERE id = (SELECT min(id) FROM job)"))
        return try claim()
      }
      let firstWorker = "WHERE id = (SELECT min(id) FROM worker)"
      let served =
        switch poisoned {
        case .claimedAttempts: try claimed("UPDATE job SET attempt = 32767, max_attempts = 32767")
        case .claimedDeadline: try claimed("UPDATE job SET deadline_seconds = 2147483647")
        case .claimedTime: try claimed("UPDATE job SET run_at = '-infinity', created_at = '-infinity'")
        case .lease: try reap("UPDATE worker SET lease_seconds = 1e300 \(firstWorker)", ending: "lease_seconds < 1e9")
        case .infiniteLease:
          try reap("UPDATE worker SET lease_seconds = 'infinity' \(firstWorker)", ending: "lease_seconds < 1e9")
        case .leaseWithoutNumber:
          try reap("UPDATE worker SET lease_seconds = 'NaN' \(firstWorker)", ending: "lease_seconds < 1e9")
        case .losses: try reap("UPDATE job SET lost = 32767 WHERE id = (SELECT min(id) FROM job)")
        case .blames: try reap("UPDATE job SET blamed = 32767, attempt = -32768 WHERE id = (SELECT min(id) FROM job)")
        case .executingDeadline:
          try reap(
            "UPDATE job SET deadline_seconds = 2147483647 WHERE id = (SELECT min(id) FROM job)",
            ending: "id = (SELECT max(id) FROM worker)")
        case .priority:
          try {
            for job in [bad, good] { try JobQueue.enqueue(job, session) }
            for _ in 0..<2 { try bury(QueueTests.claim(session), error: "no", session) }
            try session.execute("UPDATE job_dead SET priority = 30000 WHERE id = (SELECT min(id) FROM job_dead)")
            return try Array(JobQueue.retryNow([bad.publicID, good.publicID], session).keys)
          }()
        case .figures:
          try {
            try JobQueue.enqueue(good, session)
            for _ in 0..<2 { _ = try JobQueue.register(host: "here", process: 1, session) }
            try session.execute(
              Statement(
                name: "poison", text: #"UPDATE worker SET recent = '{"post":{"completed":"many"}}' \#(firstWorker)"#)
            )
            let text = Metrics().text(with: try QueueGauges.measure(settingAside: [], session))
            return text.contains(#"take5_workers{state="alive"} 2"#) ? [good.publicID] : []
          }()
        }
      #expect(served.contains(good.publicID))
    }
  }

  @Test("a row that is set aside is reported once an hour, counted, and forgotten when it is served")
  func reported() async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let pool = Pool(url, size: 2)
      let metrics = Metrics()
      let table = SetAside.Table("announcement")
      let lines = Shared<[String]>([])
      let log = Logger(format: .text, lowest: .debug) { line in lines.withLock { $0.append(line) } }
      let task = SetAside.reporting([table], WorkerMetrics(metrics), log)
      #expect(metrics.text().contains(#"take5_rows_set_aside_total{table="announcement"} 0"#))
      func gauge() async throws -> Bool {
        try await pool.run { Metrics().text(with: try QueueGauges.measure(settingAside: [table], $0)) }
          .contains(#"take5_rows_set_aside{table="announcement"} 1"#)
      }
      #expect(try await !gauge())
      let error = PostgresError(.server, "no uuid: 'secret'", sqlState: "22P02", statement: "events.announce")
      #expect(SetAside.isOfRow(error) && !SetAside.isOfRow(PostgresError(.server, "", sqlState: "40001")))
      for round in 1...2 {
        for _ in 0..<3 {
          try await pool.transaction { try SetAside.note(table, "7", error, $0) }
          _ = try await task.body(pool)
        }
        #expect(metrics.text().contains(#"take5_rows_set_aside_total{table="announcement"} \#(round)"#))
        #expect(try await gauge())
        try await pool.run { _ = try $0.execute("UPDATE row_set_aside SET until = clock_timestamp()") }
        #expect(try await !gauge())
      }
      let logged = lines.withLock { $0 }
      #expect(logged.count == 2 && logged.allSatisfy { $0.contains("22P02") && $0.contains("announcement") })
      #expect(logged.allSatisfy { !$0.contains("secret") })
      try await pool.run {
        _ = try $0.execute("UPDATE row_set_aside SET until = clock_timestamp() - interval '2 hours'")
      }
      _ = try await task.body(pool)
      let left: Int = try await pool.run { try $0.execute("SELECT count(*) FROM row_set_aside").single().get(0) }
      #expect(left == 0)
      await pool.close()
    }
  }
}
