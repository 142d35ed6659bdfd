import Model

/// A cron schedule: the five fields of crontab(5), minute, hour, day of month, month and day of week.
///
/// A field is a list of numbers, names, ranges and steps. If both the day of month and the day of week are restricted,
/// a day that matches either is admitted; a field that begins with `*` is not restricted. A schedule yields local
/// times: the database converts them to instants.
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
  /// The Gregorian calendar repeats after 400 years, days of the week included.
  private static let daysOf400Years = 146_097

  /// Parses `0 18 * * mon-fri`, or a nickname such as `@daily`; a schedule without any matching day is an error.
  package init(_ text: String) throws(CronScheduleError) {
    let words = text.split(whereSeparator: \.isWhitespace)
    let fields: [Substring]
    if let first = words.first, first.hasPrefix("@") {
      guard words.count == 1, let meaning = Self.nicknames[first.lowercased()] else {
        throw CronScheduleError("'\(text)' is not one of \(Self.nicknames.keys.sorted().joined(separator: ", "))")
      }
      fields = meaning.split(separator: " ")
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
      throw CronScheduleError("'\(text)' never matches: none of its months has such a day")
    }
  }

  /// The first matching time after another time.
  package func next(after time: LocalTime) -> LocalTime {
    guard let next = find(from: time.advanced(byMinutes: 1)) else {
      preconditionFailure("a schedule that matches once matches again within 400 years")
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
    let weekday = CivilCalendar.floored(day + 4, by: 7).remainder
    let (byMonth, byWeek) = (
      dayOfMonth.admits(date.day), dayOfWeek.admits(weekday) || weekday == 0 && dayOfWeek.admits(7)
    )
    return dayOfMonth.isStar || dayOfWeek.isStar ? byMonth && byWeek : byMonth || byWeek
  }

  /// The first matching minute of a day from a minute on; nil if there is none.
  private func firstMinute(from first: Int) -> Int? {
    (first..<24 * 60).first { hour.admits($0 / 60) && minute.admits($0 % 60) }
  }
}

/// A syntax error in a cron schedule.
package struct CronScheduleError: Error, Sendable, Hashable, CustomStringConvertible {
  package let description: String

  init(_ description: String) { self.description = description }
}

/// One field of a schedule: the numbers that it admits, one bit each.
struct CronField: Sendable, Hashable {
  /// The numbers and names that a field may contain.
  struct Domain: Sendable {
    let name: String
    let range: ClosedRange<Int>
    /// The names of the numbers, from the start of the range on.
    let names: [String]

    static let minute = Domain(name: "minute", range: 0...59, names: [])
    static let hour = Domain(name: "hour", range: 0...23, names: [])
    static let dayOfMonth = Domain(name: "day of month", range: 1...31, names: [])
    static let month = Domain(
      name: "month", range: 1...12,
      names: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"])
    /// Both 0 and 7 are Sunday.
    static let dayOfWeek = Domain(
      name: "day of week", range: 0...7, names: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"])
  }

  private var bits: UInt64 = 0
  /// Whether the field begins with `*`, with or without a step.
  let isStar: Bool

  init(_ text: Substring, _ domain: Domain) throws(CronScheduleError) {
    isStar = text.hasPrefix("*")
    for part in text.split(separator: ",", omittingEmptySubsequences: false) {
      let pieces = part.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
      let range = try Self.range(pieces[0], domain)
      guard pieces.count == 2 else {
        insert(range, step: 1)
        continue
      }
      guard pieces[0] == "*" || pieces[0].contains("-") else {
        throw CronScheduleError("in the \(domain.name) '\(part)' has a step; a step must follow * or a range")
      }
      guard let step = Self.number(pieces[1]), step > 0 else {
        throw CronScheduleError("in the \(domain.name) '\(pieces[1])' is not a step: a step is an integer of 1 or more")
      }
      insert(range, step: step)
    }
  }

  func admits(_ number: Int) -> Bool { bits & 1 << UInt64(number) != 0 }

  private mutating func insert(_ range: ClosedRange<Int>, step: Int) {
    for number in stride(from: range.lowerBound, through: range.upperBound, by: step) { bits |= 1 << UInt64(number) }
  }

  private static func range(_ text: Substring, _ domain: Domain) throws(CronScheduleError) -> ClosedRange<Int> {
    if text == "*" { return domain.range }
    let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
    let first = try value(ends[0], domain)
    guard ends.count == 2 else { return first...first }
    let last = try value(ends[1], domain)
    guard first <= last else {
      throw CronScheduleError("in the \(domain.name) the range '\(text)' ends before it begins; write it as two ranges")
    }
    return first...last
  }

  private static func value(_ text: Substring, _ domain: Domain) throws(CronScheduleError) -> Int {
    if let index = domain.names.firstIndex(of: text.lowercased()) { return domain.range.lowerBound + index }
    guard let number = number(text), domain.range.contains(number) else {
      let names = domain.names.isEmpty ? "" : ", or \(domain.names[0]) to \(domain.names[domain.names.count - 1])"
      throw CronScheduleError(
        "in the \(domain.name) '\(text)' is not one of \(domain.range.lowerBound) to \(domain.range.upperBound)\(names)"
      )
    }
    return number
  }

  /// Reads digits only: a sign is not allowed.
  private static func number(_ text: Substring) -> Int? {
    text.allSatisfy { "0"..."9" ~= $0 } ? Int(text) : nil
  }
}
