import FoundationEssentials
import Model
import Postgres
import Queue
import StoreTesting
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms
@testable import Store

@Suite("The schedule of the daily window", .tags(.database))
struct WindowScheduleTests {
  private static let schedule = "18:00-18:05 Europe/Berlin"

  /// Opens the window as long as there is something to do; returns how often it has opened.
  private static func open(_ schedule: String = schedule, by pool: Pool) async throws -> Int {
    var opened = 0
    let deadline = Deadline("nothing to open")
    while true {
      try deadline.check()
      let (isOpened, next) = try #require(try await Window.open(by: WindowSchedule(schedule), pool))
      if isOpened { opened += 1 }
      if next > .zero { return opened }
    }
  }

  private static func makeDue(_ pool: Pool, _ ago: String = "1 second") async throws {
    try await pool.run { session in
      _ = try session.execute("UPDATE window_schedule SET next_at = clock_timestamp() - $1::interval", .text(ago))
    }
  }

  private static func count(_ pool: Pool) async throws -> Int {
    try await pool.run { try $0.execute("SELECT count(*) FROM daily_window").single().get(0) }
  }

  @Test("it opens when it is due, for its time; of ten workers at once, one opens it, also after several missed times")
  func opening() async throws {
    try await StoreFixture.with { fixture in
      let pool = fixture.pool
      #expect(try await Self.open(by: pool) == 0)
      for (round, ago) in ["1 second", "3 days", "40 days"].enumerated() {
        try await Self.makeDue(pool, ago)
        let opened = try await withThrowingTaskGroup { group in
          for _ in 0..<10 { group.addTask { try await Self.open(by: pool) } }
          return try await group.reduce(0, +)
        }
        #expect(opened == 1)
        #expect(try await Self.count(pool) == round + 1)
        let window = try #require(try await pool.run { try Window.latest($0) })
        #expect(window.isOpen && window.closesAt.timeIntervalSince(window.openedAt) == 300)
        let next: String = try await pool.run { session in
          try session.execute(
            "SELECT to_char(next_at AT TIME ZONE 'Europe/Berlin', 'HH24:MI:SS') FROM window_schedule WHERE next_at > clock_timestamp()"
          ).single().get(0)
        }
        #expect(next == "18:00:00")
      }
      // The event has the times of the window.
      let reported: Int = try await pool.run { session in
        try session.execute(
          """
          SELECT count(*) FROM user_event JOIN daily_window ON opened_at = (data ->> 'opened_at')::timestamptz
            AND closes_at = (data ->> 'closes_at')::timestamptz
          WHERE kind = 'window_opened' AND user_id LIKE 'service  %' AND actor IS NULL
          """
        ).single().get(0)
      }
      #expect(reported == 3)
    }
  }

  @Test("each time of the day has its own length")
  func lengths() async throws {
    try await StoreFixture.with { fixture in
      let schedule = "00:00-01:00,08:00-10:00,16:00-19:00 UTC"
      #expect(try await Self.open(schedule, by: fixture.pool) == 0)
      let hour: Int = try await fixture.pool.run { session in
        try session.execute("SELECT extract(hour FROM next_at AT TIME ZONE 'UTC')::int FROM window_schedule").single()
          .get(0)
      }
      try await Self.makeDue(fixture.pool)
      #expect(try await Self.open(schedule, by: fixture.pool) == 1)
      let window = try #require(try await fixture.pool.run { try Window.latest($0) })
      let lengths: [Int: Double] = [0: 3600, 8: 7200, 16: 10_800]
      #expect(window.closesAt.timeIntervalSince(window.openedAt) == lengths[hour])
    }
  }

  @Test("it stays due if its opening fails")
  func crash() async throws {
    try await StoreFixture.with { fixture in
      let pool = fixture.pool
      #expect(try await Self.open(by: pool) == 0)
      try await Self.makeDue(pool)
      try await pool.run { session in
        // The server closes the connection during the opening, as in a crash.
        try session.executeScript(
          """
          CREATE FUNCTION crash() RETURNS trigger LANGUAGE plpgsql AS
            'BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NULL; END';
          CREATE TRIGGER crash AFTER INSERT ON daily_window FOR EACH ROW EXECUTE FUNCTION crash();
          """, name: "crash")
      }
      await #expect(throws: PostgresError.self) { _ = try await Self.open(by: pool) }
      #expect(try await Self.count(pool) == 0)
      try await pool.run { try $0.executeScript("DROP TRIGGER crash ON daily_window", name: "crash") }
      #expect(try await Self.open(by: pool) == 1)
    }
  }

  @Test("a schedule that is set again keeps its time, and another one begins with its next time")
  func otherSchedule() async throws {
    try await StoreFixture.with { fixture in
      let pool = fixture.pool
      #expect(try await Self.open(by: pool) == 0)
      try await Self.makeDue(pool)
      #expect(try await Self.open("19:00-19:05 Europe/Berlin", by: pool) == 0)
      #expect(try await Self.open(by: pool) == 0)
      try await Self.makeDue(pool)
      #expect(try await Self.open(by: pool) == 1)
    }
  }

  @Test("another schedule has another secret: what has opened does not show when other hours open")
  func secrets() async throws {
    try await StoreFixture.with { fixture in
      var secrets: [String] = []
      for text in ["5m in 09:00-21:00 UTC", "5m in 09:00-21:00 UTC", "5m in 10:00-21:00 UTC"] {
        secrets.append(
          try await fixture.pool.transaction { session in
            try Window.set(try Window.schedule(text, session), session)
            return try session.execute("SELECT encode(secret, 'hex') FROM window_schedule").single().get(0)
          })
      }
      #expect(secrets[0] == secrets[1] && secrets[1] != secrets[2])
    }
  }

  private static func scheduled(_ pool: Pool) async throws -> Window.Scheduled? {
    try await pool.run { try Window.scheduled($0) }
  }

  @Test("a process without a schedule opens nothing, and knows the one that was in use within a week")
  func noSchedule() async throws {
    try await StoreFixture.with { fixture in
      let pool = fixture.pool
      #expect(try await Window.open(by: nil, pool) == nil)
      #expect(try await Self.scheduled(pool) == nil)
      #expect(try await Self.open(by: pool) == 0)
      try await Self.makeDue(pool, "6 days")
      #expect(try await Window.open(by: nil, pool) == nil)
      #expect(try await Self.scheduled(pool)?.schedule == Self.schedule)
      #expect(try await Self.scheduled(pool)?.isInUse == true)
      try await Self.makeDue(pool, "8 days")
      #expect(try await Self.scheduled(pool)?.isInUse == false)
    }
  }

  @Test("the schedule of an operator counts for all processes while they run, until it is cleared")
  func operators() async throws {
    try await StoreFixture.with { fixture in
      let pool = fixture.pool
      #expect(try await Self.open(by: pool) == 0)
      let text = "mon-fri 90s in 09:00-21:00 Asia/Tokyo"
      func set(_ text: String) async throws {
        try await pool.transaction { try Window.set(try Window.schedule(text, $0), $0) }
      }
      try await set(text)
      #expect(try await Self.scheduled(pool)?.isOperators == true)
      // A process with another option, one without an option, and one of the version before, which knows the row only.
      for option in [WindowSchedule(Self.schedule), nil] {
        let (isOpened, next) = try #require(try await Window.open(by: option, pool))
        #expect(!isOpened && next > .zero)
      }
      let changed = try await pool.run { session in
        try session.execute(
          "UPDATE window_schedule SET schedule = '19:00-19:05 UTC', next_at = clock_timestamp() WHERE schedule <> '19:00-19:05 UTC'"
        ).affected
      }
      #expect(changed == 0)
      // What is set again keeps its time, also if it is due.
      try await Self.makeDue(pool)
      try await set(text)
      #expect(try await Window.open(by: nil, pool)?.isOpened == true)
      let window = try #require(try await pool.run { try Window.latest($0) })
      #expect(window.closesAt.timeIntervalSince(window.openedAt) == 90)
      try await set("19:00-19:05 UTC")
      #expect(try await Self.scheduled(pool)?.schedule == "19:00-19:05 UTC")
      try await pool.transaction { try Window.set(nil, $0) }
      #expect(try await Window.open(by: nil, pool) == nil)
      #expect(try await Self.open(by: pool) == 0)
      #expect(try await Self.scheduled(pool)?.source == .option)
      // Nothing to clear.
      try await pool.transaction { try Window.set(nil, $0) }
      #expect(try await Self.scheduled(pool)?.schedule == Self.schedule)
    }
  }

  @Test("a schedule of a later version is left to its processes")
  func laterVersion() async throws {
    try await StoreFixture.with { fixture in
      let pool = fixture.pool
      try await pool.transaction { try Window.set(try Window.schedule(Self.schedule, $0), $0) }
      try await pool.run { session in
        _ = try session.execute(
          "UPDATE window_schedule SET schedule = 'at dawn', set_at = clock_timestamp(), next_at = clock_timestamp()")
      }
      #expect(try await Window.open(by: WindowSchedule(Self.schedule), pool) == nil)
      #expect(try await Self.count(pool) == 0)
    }
  }

  @Test("no schedule opens a second window in hours in which one has opened")
  func sameHours() async throws {
    try await StoreFixture.with { fixture in
      let pool = fixture.pool
      for (index, text) in ["5m in 00:00-00:00 UTC", "6m in 00:00-00:00 UTC"].enumerated() {
        try await pool.transaction { try Window.set(try Window.schedule(text, $0), $0) }
        let isToday: Bool = try await pool.run { session in
          try session.execute(
            "SELECT (next_at AT TIME ZONE 'UTC')::date = (clock_timestamp() AT TIME ZONE 'UTC')::date FROM window_schedule"
          ).single().get(0)
        }
        if index > 0 { #expect(!isToday) }
        try await Self.makeDue(pool)
        if index == 0 { #expect(try await Window.open(by: nil, pool)?.isOpened == true) }
      }
    }
  }

  @Test("the latest window is current, and closes at its time")
  func latest() async throws {
    try await StoreFixture.with { fixture in
      let pool = fixture.pool
      for _ in 0..<3 {
        _ = try await Self.open(by: pool)
        try await Self.makeDue(pool)
      }
      #expect(try await Self.count(pool) == 2)
      try await pool.run { session in
        let latest = try #require(try Window.latest(session))
        try session.execute(
          "UPDATE daily_window SET opened_at = opened_at - interval '1 day', closes_at = closes_at - interval '1 day' WHERE id = 1"
        )
        #expect(try Window.latest(session) == latest)
        try session.execute("UPDATE daily_window SET closes_at = opened_at + interval '1 microsecond'")
        #expect(try Window.latest(session)?.isOpen == false)
      }
    }
  }

  struct Instants: Sendable, CustomTestStringConvertible {
    let schedule: String
    let after: String
    let next: [String]

    init(_ schedule: String, after: String, _ next: String...) {
      (self.schedule, self.after, self.next) = (schedule, after, next)
    }

    var testDescription: String { "\(schedule) after \(after)" }
  }

  @Test(
    "around an offset change a skipped time is shifted, and a repeated time occurs once",
    arguments: [
      Instants("18:00-18:05 UTC", after: "2026-11-21T12:00Z", "2026-11-21T18:00Z", "2026-11-22T18:00Z"),
      Instants(
        "08:00-08:05,18:00-18:05 UTC", after: "2026-11-21T12:00Z", "2026-11-21T18:00Z", "2026-11-22T08:00Z",
        "2026-11-22T18:00Z"),
      Instants("18:00-18:05 Europe/Berlin", after: "2026-03-27T18:00Z", "2026-03-28T17:00Z", "2026-03-29T16:00Z"),
      Instants("18:00-18:05 Europe/Berlin", after: "2026-10-24T12:00Z", "2026-10-24T16:00Z", "2026-10-25T17:00Z"),
      // On 2026-03-29 the time in Berlin changes from 2:00 to 3:00, at 1:00 UTC.
      Instants(
        "02:30-02:35 Europe/Berlin", after: "2026-03-28T00:00Z", "2026-03-28T01:30Z", "2026-03-29T01:30Z",
        "2026-03-30T00:30Z"),
      Instants(
        "02:00-02:05,02:30-02:35 Europe/Berlin", after: "2026-03-29T01:00Z", "2026-03-29T01:30Z",
        "2026-03-30T00:00Z"),
      // On 2026-10-25 it changes from 3:00 to 2:00, at 1:00 UTC.
      Instants("02:30-02:35 Europe/Berlin", after: "2026-10-24T12:00Z", "2026-10-25T01:30Z", "2026-10-26T01:30Z"),
      // From a time between the two, the second one follows.
      Instants("02:10-02:15 Europe/Berlin", after: "2026-10-25T00:30Z", "2026-10-25T01:10Z", "2026-10-26T01:10Z"),
      Instants("02:30-02:35 America/New_York", after: "2026-03-08T00:00Z", "2026-03-08T07:30Z", "2026-03-09T06:30Z"),
      Instants("01:30-01:35 America/New_York", after: "2026-11-01T00:00Z", "2026-11-01T06:30Z", "2026-11-02T06:30Z"),
      // A change by half an hour, and one at midnight.
      Instants("02:15-02:20 Australia/Lord_Howe", after: "2026-10-03T14:00Z", "2026-10-03T15:45Z", "2026-10-04T15:15Z"),
      Instants("00:00-00:05 Asia/Beirut", after: "2026-03-28T12:00Z", "2026-03-28T22:00Z", "2026-03-29T21:00Z"),
    ])
  func instants(_ expected: Instants) async throws {
    try await StoreFixture.with { fixture in
      let schedule = try #require(WindowSchedule(expected.schedule))
      try await fixture.pool.run { session in
        var now = try #require(JSON.date(from: expected.after.replacing("Z", with: ":00Z")))
        for next in expected.next {
          let text = Window.statements["schedule_window"].text
            .replacing("clock_timestamp()", with: "'\(JSON.text(of: now))'::timestamptz")
          try session.execute("DELETE FROM window_schedule")
          try session.execute(
            Statement(name: "next", text: text),
            Window.parameters(of: schedule) + [.text(schedule.description)])
          now = Date(
            microseconds: try session.execute("SELECT next_at FROM window_schedule").single().get("next_at"))
          #expect(now == JSON.date(from: next.replacing("Z", with: ":00Z")))
        }
      }
    }
  }

  @Test(
    "the migration keeps the time of a cron schedule, and says what to write",
    arguments: [
      (["'0 18 * * *', 'Europe/Berlin', '{}', false"], "18:00-18:05 Europe/Berlin"),
      (["' 59  23 * * * ', 'UTC', '{\"seconds\": 120}', false"], "23:59-00:01 UTC"),
      (["'@daily', 'UTC', '{\"seconds\": 86400}', false"], "00:00-00:00 UTC"),
      (["'0 9 * * mon-fri', 'UTC', '{}', false"], "cron schedule '0 9 * * mon-fri' in UTC for 300 seconds"),
      (
        ["'0 9 * * *', 'UTC', '{}', false", "'0 18 * * *', 'UTC', '{}', false"],
        "09:00-09:05 UTC; 18:00-18:05 UTC"
      ),
      (["'0 18 * * *', 'UTC', '{}', true"], nil),
    ] as [([String], String?)])
  func migration(entries: [String], schedule: String?) async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.transaction { session in
        try session.executeScript(
          "DROP TABLE window_schedule; DROP FUNCTION keep_row; ALTER TABLE daily_window ALTER COLUMN job SET NOT NULL",
          name: "before")
        for entry in entries {
          try session.executeScript(
            """
            INSERT INTO cron_entry (name, queue, kind, deadline_seconds, next_at, schedule, zone, arguments, is_paused)
            VALUES (gen_random_uuid(), 'tasks', 'window', 60, clock_timestamp(), \(entry))
            """, name: "entry")
        }
        for migration in Window.migrations {
          try session.executeScript(migration.script, name: migration.name)
        }
        #expect(try Window.scheduled(session)?.schedule == schedule)
        let kept = schedule.flatMap { WindowSchedule($0) }
        #expect((kept != nil) == (schedule?.contains { $0 == "'" || $0 == ";" } == false))
      }
    }
  }
}
