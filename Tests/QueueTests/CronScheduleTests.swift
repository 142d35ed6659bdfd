import Testing

@testable import Queue

@Suite("Cron schedules")
struct CronScheduleTests {
  struct Case: Sendable, CustomTestStringConvertible {
    let schedule: String
    let after: String
    let next: [String]

    init(_ schedule: String, after: String, _ next: String...) {
      self.schedule = schedule
      self.after = after
      self.next = next
    }

    var testDescription: String { "\(schedule) after \(after)" }
  }

  @Test(
    "the next times match the fields",
    arguments: [
      Case("* * * * *", after: "2026-11-21 18:00", "2026-11-21 18:01", "2026-11-21 18:02"),
      Case("0 18 * * *", after: "2026-11-21 17:59", "2026-11-21 18:00", "2026-11-22 18:00"),
      Case("0 18 * * *", after: "2026-11-21 18:00", "2026-11-22 18:00"),
      Case("59 23 31 12 *", after: "2026-12-31 23:59", "2027-12-31 23:59"),
      Case("*/20 * * * *", after: "2026-11-21 23:30", "2026-11-21 23:40", "2026-11-22 00:00"),
      Case("7-20/6 9 * * *", after: "2026-11-21 00:00", "2026-11-21 09:07", "2026-11-21 09:13", "2026-11-21 09:19"),
      Case("5,1,3-4 0 * * *", after: "2026-11-21 00:00", "2026-11-21 00:01", "2026-11-21 00:03", "2026-11-21 00:04"),
      Case("0 8-18/5 * * *", after: "2026-11-21 09:00", "2026-11-21 13:00", "2026-11-21 18:00", "2026-11-22 08:00"),
      // 2026-11-21 is a Saturday.
      Case("0 0 * * mon-fri", after: "2026-11-21 12:00", "2026-11-23 00:00", "2026-11-24 00:00"),
      Case("0 0 * * SUN", after: "2026-11-21 12:00", "2026-11-22 00:00", "2026-11-29 00:00"),
      Case("0 0 * * 0", after: "2026-11-21 12:00", "2026-11-22 00:00"),
      Case("0 0 * * 7", after: "2026-11-21 12:00", "2026-11-22 00:00"),
      Case("0 0 * * 5-7", after: "2026-11-21 12:00", "2026-11-22 00:00", "2026-11-27 00:00", "2026-11-28 00:00"),
      Case("0 0 1 jan,Jul *", after: "2026-11-21 12:00", "2027-01-01 00:00", "2027-07-01 00:00"),
      // Both days are restricted: a day that matches either is admitted.
      Case("0 0 13 * fri", after: "2026-11-01 00:00", "2026-11-06 00:00", "2026-11-13 00:00", "2026-11-20 00:00"),
      Case("0 0 1,15 * mon", after: "2026-11-21 00:00", "2026-11-23 00:00", "2026-11-30 00:00", "2026-12-01 00:00"),
      // A field that begins with a star is not restricted: both must match.
      Case("0 0 */2 * mon", after: "2026-11-01 00:00", "2026-11-09 00:00", "2026-11-23 00:00"),
      Case("0 0 13 * */5", after: "2026-11-01 00:00", "2026-11-13 00:00", "2026-12-13 00:00"),
      // Months without a day are skipped, and leap days are found.
      Case("0 0 31 * *", after: "2026-03-31 00:00", "2026-05-31 00:00", "2026-07-31 00:00", "2026-08-31 00:00"),
      Case("0 0 29 2 *", after: "2026-11-21 00:00", "2028-02-29 00:00", "2032-02-29 00:00"),
      Case("0 0 29 2 *", after: "2096-02-29 00:00", "2104-02-29 00:00"),
      Case("0 0 29 feb */3", after: "2032-02-29 00:00", "2040-02-29 00:00"),
      Case("59 23 28-29 2 *", after: "2027-02-28 23:59", "2028-02-28 23:59", "2028-02-29 23:59", "2029-02-28 23:59"),
      Case("@daily", after: "2026-12-31 12:00", "2027-01-01 00:00"),
      Case("@midnight", after: "2026-11-21 12:00", "2026-11-22 00:00"),
      Case("@hourly", after: "2026-11-21 12:00", "2026-11-21 13:00"),
      Case("@weekly", after: "2026-11-21 12:00", "2026-11-22 00:00"),
      Case("@monthly", after: "2026-11-21 12:00", "2026-12-01 00:00"),
      Case("@yearly", after: "2026-11-21 12:00", "2027-01-01 00:00"),
      Case("@annually", after: "2026-11-21 12:00", "2027-01-01 00:00"),
      Case("  0\t18  * * * ", after: "2026-11-21 12:00", "2026-11-21 18:00"),
    ])
  func next(_ expected: Case) throws {
    let schedule = try CronSchedule(expected.schedule)
    var time = try #require(LocalTime(expected.after))
    for next in expected.next {
      time = schedule.next(after: time)
      #expect(time.description == next)
    }
  }

  @Test(
    "an invalid schedule is an error that names the field",
    arguments: [
      ("", "0 fields"), ("0 18 * *", "4 fields"), ("0 18 * * * root", "6 fields"), ("60 * * * *", "minute '60'"),
      ("* 24 * * *", "hour '24'"), ("* * 0 * *", "day of month '0'"), ("* * 32 * *", "day of month '32'"),
      ("* * * 13 *", "month '13'"), ("* * * * 8", "day of week '8'"), ("* * * foo *", "month 'foo'"),
      ("mon * * * *", "minute 'mon'"), ("* * * * sat-sun", "ends before it begins"), ("5/10 * * * *", "has a step"),
      ("*/0 * * * *", "not a step"), ("*/x * * * *", "not a step"), ("1,,2 * * * *", "minute ''"),
      ("-5 * * * *", "minute ''"),
      ("+5 * * * *", "minute '+5'"), ("1-2-3 * * * *", "minute '2-3'"), ("@reboot", "not one of @annually"),
      ("@daily *", "not one of @annually"), ("0 0 30 2 *", "never matches"), ("0 0 31 4,6,9,11 *", "never matches"),
      ("99999999999999999999 * * * *", "minute"),
    ])
  func refused(text: String, why: String) {
    let error = #expect(throws: CronScheduleError.self) { try CronSchedule(text) }
    #expect(error?.description.contains(why) == true, "\(error?.description ?? "")")
  }

  @Test("only existing local times are parsed", arguments: ["2026-02-29 00:00", "2026-11-21 24:00"])
  func localTimes(wrong: String) {
    #expect(LocalTime(wrong) == nil)
    #expect(LocalTime("2028-02-29 23:59")?.description == "2028-02-29 23:59")
  }
}
