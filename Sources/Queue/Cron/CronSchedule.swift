import Model

/// When something is due by the calendar: the five fields of crontab(5), minute, hour, day of month, month and day of week.
///
/// A field is a list of numbers, names, ranges and steps. If both the day of month and the day of week say something, a day
/// that satisfies either is taken; a field that begins with `*` says nothing in this sense. Pure, and by the clock on the
/// wall: what instant that is, the database knows.
package struct CronSchedule: Sendable, Hashable {
  private let minute: CronField
  private let hour: CronField
  private let dayOfMonth: CronField
  private let month: CronField
  private let dayOfWeek: CronField

  private static let nicknames = [
    "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *", "@monthly": "0 0 1 * *", "@weekly": "0 0 * * 0",
    "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@hourly": "0 * * * *",
  ]
  /// The calendar repeats itself, days of the week included.
  private static let daysOf400Years = 146_097

  /// Reads `0 18 * * mon-fri`, or a nickname such as `@daily`; refuses a day that never comes.
  package init(_ text: String) throws(CronScheduleError) {
    let words = text.split(whereSeparator: \.isWhitespace)
    let fields: [Substring]
    if let first = words.first, first.hasPrefix("@") {
      guard words.count == 1, let meant = Self.nicknames[first.lowercased()] else {
        throw CronScheduleError("'\(text)' is none of \(Self.nicknames.keys.sorted().joined(separator: ", "))")
      }
      fields = meant.split(separator: " ")
    } else {
      fields = words
    }
    guard fields.count == 5 else {
      throw CronScheduleError(
        "'\(text)' has \(fields.count) fields; it needs five: minute, hour, day of month, month, day of week")
    }
    minute = try CronField(fields[0], .minute)
    hour = try CronField(fields[1], .hour)
    dayOfMonth = try CronField(fields[2], .dayOfMonth)
    month = try CronField(fields[3], .month)
    dayOfWeek = try CronField(fields[4], .dayOfWeek)
    guard find(from: LocalTime(day: 0, minute: 0)) != nil else {
      throw CronScheduleError("'\(text)' never comes: no month that it names has such a day")
    }
  }

  /// The first time after another.
  package func next(after time: LocalTime) -> LocalTime {
    guard let next = find(from: time.advanced(byMinutes: 1)) else {
      preconditionFailure("what comes once comes again within 400 years")
    }
    return next
  }

  private func find(from time: LocalTime) -> LocalTime? {
    var minute = time.minute
    for day in time.day...time.day + Self.daysOf400Years {
      if admits(day: day), let found = firstMinute(from: minute) { return LocalTime(day: day, minute: found) }
      minute = 0
    }
    return nil
  }

  private func admits(day: Int) -> Bool {
    let date = CivilCalendar.date(day)
    guard month.admits(date.month) else { return false }
    // 1970-01-01 was a Thursday.
    let weekday = CivilCalendar.floored(day + 4, by: 7).rest
    let (byMonth, byWeek) = (
      dayOfMonth.admits(date.day), dayOfWeek.admits(weekday) || weekday == 0 && dayOfWeek.admits(7)
    )
    return dayOfMonth.isStar || dayOfWeek.isStar ? byMonth && byWeek : byMonth || byWeek
  }

  /// Of a day, from a minute of it on.
  private func firstMinute(from first: Int) -> Int? {
    (first..<24 * 60).first { hour.admits($0 / 60) && minute.admits($0 % 60) }
  }
}
