import Model
import Testing

@Suite("Schedules of the daily window")
struct WindowScheduleTests {
  @Test(
    "a schedule has times of the day, lengths and a time zone",
    arguments: [
      ("18:00-18:05 Europe/Berlin", [64_800], [300]), ("00:00-00:00:30 UTC", [0], [30]),
      ("12:00-12:10,18:30:15-18:31 UTC", [43_200, 66_615], [600, 45]),
      // Across midnight, and a whole day.
      ("23:58-00:03 UTC", [86_280], [300]), ("07:00-07:00 UTC", [25_200], [86_400]),
    ])
  func parsing(text: String, times: [Int], lengths: [Int]) throws {
    let schedule = try #require(WindowSchedule(text))
    #expect(schedule.openings.map(\.first) == times && schedule.openings.map(\.seconds) == lengths)
    #expect(!schedule.isRandom && schedule.days == Array(1...7))
    #expect("\(schedule.zone)" == text.split(separator: " ")[1] && schedule.description == text)
  }

  @Test(
    "it may have days of the week, and hours with a time at random",
    arguments: [
      ("5m in 09:00-21:00 Europe/Berlin", Array(1...7), 32_400, 75_600, 300),
      ("mon-fri 90s in 22:00-02:00 UTC", Array(1...5), 79_200, 93_600, 90),
      ("sun,wed 1440m in 00:00-00:00 UTC", [3, 7], 0, 86_400, 86_400),
      ("sat-mon 18:00-18:05 UTC", [1, 6, 7], 64_800, 64_800, 300),
    ])
  func hours(text: String, days: [Int], first: Int, end: Int, seconds: Int) throws {
    let schedule = try #require(WindowSchedule(text))
    #expect(schedule.days == days && schedule.isRandom == (first != end) && schedule.description == text)
    let opening = try #require(schedule.openings.first)
    #expect([opening.first, opening.end, opening.seconds] == [first, end, seconds] && schedule.openings.count == 1)
  }

  @Test(
    "anything else is refused",
    arguments: [
      "", "18:00-18:05", "18:00-18:05 ", "18:00 UTC", "18:00-18:05  UTC", "18:00-18:05 UTC x", "24:00-00:05 UTC",
      "18:60-18:05 UTC", "18:00-18:05:60 UTC", "18-19 UTC", "18:00-18:05-18:10 UTC", "18:00-18:05, UTC",
      "+8:00-18:05 UTC", "8:00-9:00 UTC", "18:00:00:00-19:00 UTC", "0 18 * * * UTC", "18:00-x UTC", "18:x-18:05 UTC",
      "in 09:00-21:00 UTC", "5m 09:00-21:00 UTC", "0m in 09:00-21:00 UTC", "1441m in 09:00-21:00 UTC",
      "-5m in 09:00-21:00 UTC", "99999999999999999999s in 09:00-21:00 UTC", "5h in 09:00-21:00 UTC",
      "5m in 09:00-12:00,15:00-21:00 UTC", "5m in mon 09:00-21:00 UTC", "mon-fri mon 5m in 09:00-21:00 UTC",
      "funday 18:00-18:05 UTC", "mon-tue-wed 18:00-18:05 UTC", "mon, 18:00-18:05 UTC", "Mon 18:00-18:05 UTC",
    ])
  func refusal(text: String) { #expect(WindowSchedule(text) == nil) }
}
