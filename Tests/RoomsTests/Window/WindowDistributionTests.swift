import FoundationEssentials
import Model
import Postgres
import Queue
import StoreTesting
import Testing

@testable import Kit
@testable import Rooms

@Suite("The times of the daily window", .tags(.database))
struct WindowDistributionTests {
  /// A hundred years from 2027 on.
  private static let days = 36_524

  /// Runs a query over the openings of a hundred years, which have the columns of the fragment `openings`.
  private static func query(
    _ text: String, of schedule: String, secret: String = "a", _ session: Session
  ) throws -> Row {
    let schedule = try #require(WindowSchedule(schedule))
    let preview = Window.statements["preview_window"].text
    let fragment = try #require(
      preview.components(separatedBy: "FROM (SELECT day").last?.components(separatedBy: ") AS opening\nWHERE").first)
    let openings = "SELECT day" + fragment
    let statement = """
      WITH chosen AS (SELECT '\(secret)'::bytea AS secret),
      opening AS MATERIALIZED (
        \(openings.replacing("generate_series(-1, 7)", with: "generate_series(0, \(days - 1))")
          .replacing("clock_timestamp()", with: "'2027-01-01 12:00Z'::timestamptz")))
      \(text)
      """
    return try session.execute(Statement(name: "openings", text: statement), Window.parameters(of: schedule)).single()
  }

  @Test(
    "in a hundred years it opens once in the hours of each day, and every time of them is as likely as the others",
    arguments: [
      "5m in 09:00-21:00 Europe/Berlin", "5m in 00:00-00:00 Europe/Berlin", "90s in 22:00-04:00 America/New_York",
      "5m in 01:00-04:00 Australia/Lord_Howe",
    ])
  func uniform(schedule: String) async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        // Each of 240 parts of the hours has the same number of days, up to chance: chi-square with 239 degrees of freedom exceeds 325
        // once in ten thousand secrets, and this one is fixed. Hours of days that a change of the offset makes longer or shorter count.
        let row = try Self.query(
          """
          SELECT (SELECT count(*) FROM opening) AS days, (SELECT count(DISTINCT day) FROM opening) AS distinct_days,
            (SELECT count(*) FROM opening WHERE at < starts_at OR at >= ends_at) AS outside,
            (SELECT count(*) FROM (SELECT at - lag(at) OVER (ORDER BY day) AS gap FROM opening) AS gaps
              WHERE gap <= interval '0') AS disordered,
            (SELECT count(DISTINCT ends_at - starts_at) FROM opening) AS lengths,
            (SELECT sum((n - \(Self.days) / 240.0) ^ 2 / (\(Self.days) / 240.0))::float8 FROM (
              SELECT count(day) AS n FROM generate_series(0, 239) AS part LEFT JOIN opening
                ON part = floor(240 * extract(epoch FROM at - starts_at) / extract(epoch FROM ends_at - starts_at))
              GROUP BY part) AS parts) AS chi_square
          """, of: schedule, session)
        #expect(try row.get("days") == Self.days && row.get("distinct_days") == Self.days)
        #expect(try row.get("outside") == 0 && row.get("disordered") == 0)
        // The hours that a change falls into are an hour, or half an hour, longer or shorter.
        #expect(try row.get("lengths") == (schedule.contains("09:00") ? 1 : 3))
        let chiSquare: Double = try row.get("chi_square")
        #expect(150...325 ~= chiSquare, "\(chiSquare)")
      }
    }
  }

  @Test("a time of a day says nothing about the next day's, and another secret has other times")
  func independent() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        let schedule = "5m in 09:00-21:00 UTC"
        let correlation: Double = try Self.query(
          """
          SELECT corr(extract(epoch FROM at - starts_at), extract(epoch FROM later))::float8 AS r
          FROM (SELECT at, starts_at, lead(at - starts_at) OVER (ORDER BY day) AS later FROM opening) AS pair
          """, of: schedule, session
        ).get("r")
        #expect(abs(correlation) < 0.02, "\(correlation)")
        func first(_ secret: String) throws -> Int64 {
          try Self.query("SELECT min(at) AS at FROM opening", of: schedule, secret: secret, session).get("at")
        }
        #expect(try first("a") != first("b") && first("a") == first("a"))
      }
    }
  }

  @Test("it opens on the days of the week of the schedule")
  func weekdays() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        let row = try Self.query(
          """
          SELECT count(*) AS days, string_agg(DISTINCT extract(isodow FROM at AT TIME ZONE 'Asia/Tokyo')::text, ',') AS weekdays
          FROM opening
          """, of: "mon-tue,fri 5m in 00:00-23:59 Asia/Tokyo", session)
        #expect(try row.get("weekdays") == "1,2,5")
        #expect(abs(try row.get("days", as: Int.self) - Self.days * 3 / 7) <= 3)
      }
    }
  }

  @Test("each call after an opening chooses the next day, to the end of a month")
  func chain() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        let schedule = try #require(WindowSchedule("5m in 20:00-20:00 Europe/Berlin"))
        var (now, previous) = (try #require(JSON.date(from: "2026-10-01T10:00:00Z")), "")
        var days: [String] = []
        for _ in 0..<40 {
          let text = Window.statements["set_window"].text
            .replacing("clock_timestamp()", with: "'\(JSON.text(of: now))'::timestamptz")
          try session.execute(
            Statement(name: "next", text: text), Window.parameters(of: schedule) + [.text("x\(days.count)")])
          let row = try session.execute(
            """
            SELECT next_at, (next_at AT TIME ZONE 'Europe/Berlin' - interval '20 hours')::date::text AS day FROM window_schedule
            """
          ).single()
          // It opens 400 ms later, as by a worker.
          now = Date(microseconds: try row.get("next_at")).addingTimeInterval(0.4)
          let day: String = try row.get("day")
          #expect(day > previous)
          previous = day
          days.append(day)
          try session.execute(
            "INSERT INTO daily_window (opened_at, closes_at) SELECT at, at + interval '5 minutes' FROM (SELECT '\(JSON.text(of: now))'::timestamptz AS at) AS t"
          )
        }
        // Forty days without a gap, over the change of the offset.
        #expect(days.first == "2026-09-30" ? days.last == "2026-11-08" : days.last == "2026-11-09")
      }
    }
  }
}
