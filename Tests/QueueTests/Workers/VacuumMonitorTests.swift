import Postgres
import PostgresTesting
import Telemetry
import Testing

@testable import Queue

@Suite("Warnings about dead rows")
struct VacuumMonitorTests {
  private static let old = HorizonHolder(
    kind: .session, name: "4711", application: "psql", state: "idle in transaction", seconds: 301, transactions: 12)

  @Test("an old transaction is a warning with a remedy; a young one and few dead rows are not")
  func causes() {
    let health = QueueHealth(
      holders: [
        Self.old, HorizonHolder(kind: .session, name: "1", seconds: 299, transactions: 9_000_000),
        HorizonHolder(kind: .slot, name: "it's", seconds: nil, transactions: 1_000_001),
        HorizonHolder(kind: .slot, name: "young", seconds: nil, transactions: 5),
      ],
      tables: [
        TableRows(table: "job", live: 10, dead: 60_000), TableRows(table: "job_dead", live: 60_000, dead: 60_000),
        TableRows(table: "job_dead", live: 0, dead: 49_999),
      ])
    let warnings = VacuumMonitor.warnings(of: health, VacuumLimits())
    #expect(warnings.map(\.cause) == ["session 4711", "slot it's", "table job"])
    #expect(warnings[0].fields["pid"] == "4711" && warnings[0].fields["seconds"] == "301")
    #expect(warnings[0].fields["application"] == "psql" && warnings[0].fields["state"] == "idle in transaction")
    #expect(warnings[0].fields["remedy"]?.contains("pg_terminate_backend(4711)") == true)
    #expect(warnings[1].fields["remedy"]?.contains("pg_drop_replication_slot('it''s')") == true)
    #expect(warnings[2].fields["remedy"]?.contains("VACUUM job") == true)
  }

  @Test("an open transaction is reported once", .tags(.database))
  func found() async throws {
    try await withDatabase(TestTemplate(name: "vacuum") { try Migrator(QueueMigrations.all).migrate($0) }) { url in
      let (lines, output) = AsyncStream.makeStream(of: String.self)
      var limits = VacuumLimits()
      limits.oldestTransaction = .zero
      let monitor = VacuumMonitor(limits: limits, log: Logger(format: .text) { output.yield($0) })
      let pool = Pool(url, size: 1)
      let holder = try Connection(
        DatabaseURL("\(url.connectionString) application_name='nightly'"), name: "test-holder")
      try await holder.run { session in
        try session.executeScript("BEGIN; INSERT INTO job_share (name, next_rank) VALUES ('a', 1)", name: "hold")
        let health = try Session.connect(url, timeout: .seconds(5))
        let found = try JobQueue.health(health)
        for _ in 0..<2 { monitor.warn(of: found, at: .now) }
        try session.executeScript("ROLLBACK", name: "release")
      }
      _ = try await monitor.task.body(pool)
      output.finish()
      var all: [String] = []
      for await line in lines where line.contains("nightly") { all.append(line) }
      #expect(all.count == 1)
      #expect(all.first?.contains("idle in transaction") == true && all.first?.contains("pg_terminate_backend") == true)
      await pool.close()
    }
  }

  @Test("a cause is logged again only after a pause")
  func silence() async {
    let (lines, output) = AsyncStream.makeStream(of: String.self)
    let monitor = VacuumMonitor(limits: VacuumLimits(), log: Logger(format: .text) { output.yield($0) })
    let health = QueueHealth(holders: [Self.old], tables: [TableRows(table: "job", live: 0, dead: 60_000)])
    let now = ContinuousClock.now
    for seconds in [0, 60, 299, 301] { monitor.warn(of: health, at: now + .seconds(seconds)) }
    output.finish()
    var all: [String] = []
    for await line in lines { all.append(line) }
    #expect(all.count == 4)
    #expect(all.count { $0.contains("pid=4711") } == 2)
    #expect(all.count { $0.contains("table=job") } == 2)
  }
}
