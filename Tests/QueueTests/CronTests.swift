import FoundationEssentials
import Model
import Postgres
import PostgresTesting
import Testing

@testable import Queue

@Suite("Cron entries", .tags(.database))
struct CronTests {
  private let entry = CronEntry(
    name: "daily", schedule: "0 18 * * *", zone: "Europe/Berlin", queue: "tasks", kind: "window",
    arguments: Array(#"{"seconds": 60}"#.utf8))

  struct Instants: Sendable, CustomTestStringConvertible {
    let schedule: String
    let zone: String
    let after: String
    let next: [String]

    init(_ schedule: String, _ zone: String, after: String, _ next: String...) {
      (self.schedule, self.zone, self.after, self.next) = (schedule, zone, after, next)
    }

    var testDescription: String { "\(schedule) in \(zone) after \(after)" }
  }

  @Test(
    "around an offset change a skipped time is shifted, and a repeated time fires once",
    arguments: [
      Instants("0 18 * * *", "UTC", after: "2026-11-21T12:00Z", "2026-11-21T18:00Z", "2026-11-22T18:00Z"),
      Instants("0 18 * * *", "Europe/Berlin", after: "2026-03-27T18:00Z", "2026-03-28T17:00Z", "2026-03-29T16:00Z"),
      Instants("0 18 * * *", "Europe/Berlin", after: "2026-10-24T12:00Z", "2026-10-24T16:00Z", "2026-10-25T17:00Z"),
      // On 2026-03-29 the time in Berlin changes from 2:00 to 3:00, at 1:00 UTC.
      Instants(
        "30 2 * * *", "Europe/Berlin", after: "2026-03-28T00:00Z", "2026-03-28T01:30Z", "2026-03-29T01:30Z",
        "2026-03-30T00:30Z"),
      Instants(
        "30 * * * *", "Europe/Berlin", after: "2026-03-29T00:00Z", "2026-03-29T00:30Z", "2026-03-29T01:30Z",
        "2026-03-29T02:30Z"),
      Instants(
        "0,30 2 * * *", "Europe/Berlin", after: "2026-03-29T01:00Z", "2026-03-29T01:30Z", "2026-03-30T00:00Z"),
      // On 2026-10-25 it changes from 3:00 to 2:00, at 1:00 UTC.
      Instants(
        "30 2 * * *", "Europe/Berlin", after: "2026-10-24T12:00Z", "2026-10-25T01:30Z", "2026-10-26T01:30Z"),
      // From a time between the two, the second one follows.
      Instants("10 2 * * *", "Europe/Berlin", after: "2026-10-25T00:30Z", "2026-10-25T01:10Z", "2026-10-26T01:10Z"),
      Instants(
        "0 * * * *", "Europe/Berlin", after: "2026-10-24T23:30Z", "2026-10-25T01:00Z", "2026-10-25T02:00Z"),
      Instants(
        "30 2 * * *", "America/New_York", after: "2026-03-08T00:00Z", "2026-03-08T07:30Z", "2026-03-09T06:30Z"),
      Instants(
        "30 1 * * *", "America/New_York", after: "2026-11-01T00:00Z", "2026-11-01T06:30Z", "2026-11-02T06:30Z"),
      // A change by half an hour, and one at midnight.
      Instants(
        "15 2 * * *", "Australia/Lord_Howe", after: "2026-10-03T14:00Z", "2026-10-03T15:45Z", "2026-10-04T15:15Z"),
      Instants("0 0 * * *", "Asia/Beirut", after: "2026-03-28T12:00Z", "2026-03-28T22:00Z", "2026-03-29T21:00Z"),
      Instants("0 0 29 2 *", "Asia/Tokyo", after: "2026-11-21T12:00Z", "2028-02-28T15:00Z", "2032-02-28T15:00Z"),
    ])
  func instants(_ expected: Instants) async throws {
    try await withSession { session in
      let times = try JobQueue.times(
        of: CronSchedule(expected.schedule), zone: expected.zone, after: Self.instant(expected.after),
        count: expected.next.count, session)
      #expect(times == expected.next.map(Self.instant))
    }
  }

  @Test("a due entry fires once, with its arguments, and advances to its next time")
  func firing() async throws {
    try await Self.withPool { pool, session in
      try JobQueue.set(cron: entry, session)
      #expect(try await Self.fire(pool).isEmpty)
      try Self.makeDue("1 second", session)
      let fired = try await Self.fire(pool)
      #expect(fired.map(\.name) == ["daily"])
      #expect(try await Self.fire(pool).isEmpty)
      let job = try #require(try JobQueue.find(fired[0].job, session))
      #expect(job.queue == "tasks" && job.kind == "window" && job.arguments == entry.arguments)
      let record = try #require(try JobQueue.cron(session).first)
      #expect(record.lastAt != nil)
      #expect(record.next.count == 3 && record.next[0] > job.createdAt)
      #expect(try JobQueue.nextFiring(ofKind: "window", session) == record.next[0])
    }
  }

  @Test("an entry that missed several times fires once, and then at its next time")
  func downtime() async throws {
    try await Self.withPool { pool, session in
      var often = entry
      often.schedule = "* * * * *"
      try JobQueue.set(cron: often, session)
      try Self.makeDue("3 days", session)
      #expect(try await Self.fire(pool).count == 1)
      #expect(try await Self.fire(pool).isEmpty)
      #expect(try session.execute("SELECT FROM cron_entry WHERE next_at > clock_timestamp()").count == 1)
    }
  }

  @Test("of ten workers that fire at once, one enqueues the job")
  func atOnce() async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let pool = Pool(url, size: 10)
      for round in 1...20 {
        try await pool.run { [entry] session in
          try JobQueue.set(cron: entry, session)
          try Self.makeDue("\(round) seconds", session)
        }
        let fired = try await withThrowingTaskGroup { group in
          for _ in 0..<10 { group.addTask { try await Self.fire(pool).count } }
          return try await group.reduce(0, +)
        }
        #expect(fired == 1)
        let jobs: Int = try await pool.run { try $0.execute("SELECT count(*) FROM job").single().get(0) }
        #expect(jobs == round)
      }
      await pool.close()
    }
  }

  @Test("an entry stays due if its firing fails")
  func crash() async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let pool = Pool(url, size: 2)
      try await pool.run { [entry] session in
        try JobQueue.set(cron: entry, session)
        try Self.makeDue("1 second", session)
        // The server closes the connection during the firing, as in a crash.
        try session.executeScript(
          """
          CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';
          CREATE TRIGGER crash AFTER INSERT ON job FOR EACH ROW EXECUTE FUNCTION crash();
          """, name: "crash")
      }
      await #expect(throws: PostgresError.self) { _ = try await Self.fire(pool) }
      try await pool.run { session in
        #expect(try session.execute("SELECT FROM job").isEmpty)
        #expect(try session.execute("SELECT FROM cron_entry WHERE last_at IS NOT NULL").isEmpty)
        try session.executeScript("DROP TRIGGER crash ON job", name: "crash")
      }
      #expect(try await Self.fire(pool).count == 1)
      await pool.close()
    }
  }

  @Test("a firing that the server has rolled back because of a concurrent transaction is repeated")
  func conflict() async throws {
    try await Self.withPool { pool, session in
      try JobQueue.set(cron: entry, session)
      try Self.makeDue("1 second", session)
      try failOnce("INSERT", session)
      #expect(try await Self.fire(pool).count == 1)
      #expect(try session.execute("SELECT FROM job").count == 1)
    }
  }

  @Test("an entry that fails does not prevent others from firing")
  func broken() async throws {
    try await Self.withPool { pool, session in
      try JobQueue.set(cron: entry, session)
      try session.execute("UPDATE cron_entry SET schedule = 'never'")
      var other = entry
      other.name = "other"
      try JobQueue.set(cron: other, session)
      try Self.makeDue("1 second", session)
      var fired: [String] = []
      await #expect(throws: CronScheduleError.self) {
        try await JobQueue.fireCron(pool) { firing in fired.append(firing.name) }
      }
      #expect(fired == ["other"])
    }
  }

  @Test("setting the same entry again keeps its due time, and another schedule resets it")
  func settingAgain() async throws {
    try await Self.withPool { pool, session in
      try JobQueue.set(cron: entry, session)
      try Self.makeDue("1 second", session)
      try JobQueue.set(cron: entry, session)
      #expect(try await Self.fire(pool).count == 1)
      try Self.makeDue("1 second", session)
      var other = entry
      other.schedule = "0 19 * * *"
      try JobQueue.set(cron: other, session)
      #expect(try await Self.fire(pool).isEmpty)
      #expect(try JobQueue.cron(session).map(\.entry.schedule) == ["0 19 * * *"])
    }
  }

  @Test("a paused entry does not fire, and times during the pause are skipped")
  func pausing() async throws {
    try await Self.withPool { pool, session in
      try JobQueue.set(cron: entry, session)
      #expect(try JobQueue.pause(cron: "daily", session))
      try Self.makeDue("1 hour", session)
      #expect(try await Self.fire(pool).isEmpty)
      #expect(try JobQueue.cron(session).first?.next == [])
      #expect(try JobQueue.nextFiring(ofKind: "window", session) == nil)
      #expect(try JobQueue.resume(cron: "daily", session))
      #expect(try await Self.fire(pool).isEmpty)
      #expect(try JobQueue.cron(session).first?.next.count == 3)
      // Resuming an entry that is not paused keeps its due time.
      try Self.makeDue("1 second", session)
      #expect(try JobQueue.resume(cron: "daily", session))
      #expect(try await Self.fire(pool).count == 1)
    }
  }

  @Test("running an entry manually does not change its times")
  func running() async throws {
    try await withSession { session in
      try JobQueue.set(cron: entry, session)
      let before = try JobQueue.cron(session)
      #expect(try JobQueue.run(cron: "daily", session)?.queue == "tasks")
      #expect(try JobQueue.run(cron: "daily", session) != nil)
      #expect(try JobQueue.cron(session) == before)
      #expect(try session.execute("SELECT FROM job").count == 2)
    }
  }

  @Test("missing entries are reported, and invalid ones are errors")
  func wrong() async throws {
    try await Self.withPool { pool, session in
      #expect(try !JobQueue.remove(cron: "daily", session))
      #expect(try !JobQueue.pause(cron: "daily", session))
      #expect(try !JobQueue.resume(cron: "daily", session))
      #expect(try JobQueue.run(cron: "daily", session) == nil)
      var wrong = entry
      wrong.zone = "Europe/Atlantis"
      #expect(throws: CronError.zone("Europe/Atlantis")) { try JobQueue.set(cron: wrong, session) }
      wrong = entry
      wrong.schedule = "often"
      #expect(throws: CronError.self) { try JobQueue.set(cron: wrong, session) }
      try JobQueue.set(cron: entry, session)
      #expect(try JobQueue.remove(cron: "daily", session))
      #expect(try JobQueue.cron(session).isEmpty)
    }
  }

  private static func instant(_ text: String) -> Int64 {
    let date = JSON.date(from: text.replacing("Z", with: ":00Z")) ?? Date(timeIntervalSince1970: 0)
    return Int64(date.timeIntervalSince1970 * 1e6)
  }

  private static func makeDue(_ ago: String, _ session: Session) throws {
    try session.executeScript(
      "UPDATE cron_entry SET next_at = clock_timestamp() - interval '\(ago)'", name: "due")
  }

  private static func fire(_ pool: Pool) async throws -> [CronFiring] {
    var fired: [CronFiring] = []
    try await JobQueue.fireCron(pool) { fired.append($0) }
    return fired
  }

  private static func withPool(_ body: (Pool, Session) async throws -> Void) async throws {
    try await withDatabase(QueueDatabase.template) { url in
      let pool = Pool(url, size: 2)
      try await body(pool, try Session.connect(url, timeout: .seconds(5)))
      await pool.close()
    }
  }
}
