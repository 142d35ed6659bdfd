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
    #expect(schedule.openings.map(\.secondOfDay) == times && schedule.openings.map(\.seconds) == lengths)
    #expect("\(schedule.zone)" == text.split(separator: " ")[1] && schedule.description == text)
  }

  @Test(
    "anything else is refused",
    arguments: [
      "", "18:00-18:05", "18:00-18:05 ", "18:00 UTC", "18:00-18:05  UTC", "18:00-18:05 UTC x", "24:00-00:05 UTC",
      "18:60-18:05 UTC", "18:00-18:05:60 UTC", "18-19 UTC", "18:00-18:05-18:10 UTC", "18:00-18:05, UTC",
      "+8:00-18:05 UTC", "8:00-9:00 UTC", "18:00:00:00-19:00 UTC", "0 18 * * * UTC", "18:00-x UTC", "18:x-18:05 UTC",
    ])
  func refusal(text: String) { #expect(WindowSchedule(text) == nil) }
}
