import FoundationEssentials
import Model
import Testing

@Suite("RFC 3339")
struct RFC3339Tests {
  @Test(
    "a time is parsed, and written in UTC with milliseconds",
    arguments: [
      ("2026-11-20T18:30:00Z", "2026-11-20T18:30:00.000Z"), ("2026-11-20t18:30:00z", "2026-11-20T18:30:00.000Z"),
      ("2026-11-20T18:30:00.1239Z", "2026-11-20T18:30:00.123Z"),
      ("2026-11-20T18:30:00+05:30", "2026-11-20T13:00:00.000Z"),
      ("2026-11-20T18:30:00-23:59", "2026-11-21T18:29:00.000Z"),
      ("2024-02-29T00:00:00Z", "2024-02-29T00:00:00.000Z"), ("2000-02-29T23:59:59.9999Z", "2000-02-29T23:59:59.999Z"),
      ("1582-10-10T12:00:00Z", "1582-10-10T12:00:00.000Z"), ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"),
      ("9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"), ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"),
      ("1969-12-31T23:59:59.5Z", "1969-12-31T23:59:59.500Z"), ("1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z"),
    ])
  func valid(text: String, written: String) throws {
    let date = try #require(RFC3339.date(from: text))
    #expect(RFC3339.text(of: date) == written)
  }

  @Test(
    "a time outside of the years 1 to 9999 is clamped",
    arguments: [
      (1e30, "9999-12-31T23:59:59.999Z"), (-1e30, "0001-01-01T00:00:00.000Z"), (.nan, "0001-01-01T00:00:00.000Z"),
    ])
  func farAway(seconds: Double, written: String) {
    #expect(RFC3339.text(of: Date(timeIntervalSince1970: seconds)) == written)
  }

  @Test(
    "a time that 64 bits of microseconds do not reach is the nearest",
    arguments: [(1e30, Int64.max), (-1e30, .min), (1.5, 1_500_000), (-0.000_001, -1)])
  func microseconds(seconds: Double, number: Int64) {
    #expect(Date(timeIntervalSince1970: seconds).microseconds == number)
  }

  @Test(
    "other texts are rejected",
    arguments: [
      "", "2026-11-20", "2026-11-20T18:30:00", "2026-11-20 18:30:00Z", "2026-02-30T00:00:00Z", "2023-02-29T00:00:00Z",
      "2026-00-10T00:00:00Z", "2026-13-10T00:00:00Z", "2026-11-00T00:00:00Z", "2026-11-20T24:00:00Z",
      "2026-11-20T18:60:00Z", "2026-11-20T18:30:61Z", "2026-11-20T18:30:60Z", "2026-11-20T18:30:00.Z",
      "2026-11-20T18:30:00Zx", " 2026-11-20T18:30:00Z", "2026-11-20T18:30:00+0100", "2026-11-20T18:30:00+24:00",
      "2026-11-20T18:30:00+01", "26-11-20T18:30:00Z", "+2026-11-20T18:30:00Z", "10000-01-01T00:00:00Z",
      "2026-11-20T18:30:00\u{660}Z",
    ])
  func invalid(text: String) {
    #expect(RFC3339.date(from: text) == nil)
  }

  @Test("times before 1582 are in the Gregorian calendar, as in PostgreSQL")
  func counting() {
    #expect(RFC3339.date(from: "1970-01-01T00:00:00Z")?.timeIntervalSince1970 == 0)
    #expect(RFC3339.date(from: "2026-11-20T18:30:00Z")?.timeIntervalSince1970 == 1_795_199_400)
    #expect(RFC3339.date(from: "0001-01-01T00:00:00Z")?.timeIntervalSince1970 == -62_135_596_800)
  }
}
