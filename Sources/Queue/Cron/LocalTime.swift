import Model

/// A local time to the minute, without a time zone.
package struct LocalTime: Sendable, Hashable, Comparable {
  /// Days since 1970-01-01.
  let day: Int
  /// The minute of the day, 0 to 1439.
  let minute: Int

  init(day: Int, minute: Int) {
    self.day = day
    self.minute = minute
  }

  /// Parses the form `2026-11-21 18:00`; nil for any other text.
  package init?(_ text: String) {
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    guard words.count == 2 else { return nil }
    let date = words[0].split(separator: "-", omittingEmptySubsequences: false).compactMap { Int($0) }
    let time = words[1].split(separator: ":", omittingEmptySubsequences: false).compactMap { Int($0) }
    guard date.count == 3, time.count == 2, 0..<24 ~= time[0], 0..<60 ~= time[1] else { return nil }
    day = CivilCalendar.days(date[0], date[1], date[2])
    minute = time[0] * 60 + time[1]
    guard CivilCalendar.date(day) == (date[0], date[1], date[2]) else { return nil }
  }

  func advanced(byMinutes minutes: Int) -> LocalTime {
    let (days, rest) = CivilCalendar.floored(minute + minutes, by: 24 * 60)
    return LocalTime(day: day + days, minute: rest)
  }

  package static func < (left: LocalTime, right: LocalTime) -> Bool {
    (left.day, left.minute) < (right.day, right.minute)
  }
}

extension LocalTime: CustomStringConvertible {
  /// In PostgreSQL's input form of `timestamp`.
  package var description: String {
    let (year, month, dayOfMonth) = CivilCalendar.date(day)
    func digits(_ number: Int, _ count: Int) -> String {
      String(repeating: "0", count: max(0, count - String(number).count)) + String(number)
    }
    return "\(digits(year, 4))-\(digits(month, 2))-\(digits(dayOfMonth, 2)) "
      + "\(digits(minute / 60, 2)):\(digits(minute % 60, 2))"
  }
}
