package import FoundationEssentials

/// Reads and writes times of RFC 3339 in the proleptic Gregorian calendar.
///
/// Foundation's `ISO8601FormatStyle` accepts February 30 and trailing text, rejects offsets of 18 hours and more,
/// and counts days before 1582 in the Julian calendar, which PostgreSQL does not.
package enum RFC3339 {
  private static let secondsOfDay = 86_400

  /// The years 1 to 9999, in microseconds since 1970-01-01 UTC, which is what PostgreSQL stores.
  private static let range = -62_135_596_800_000_000.0...253_402_300_799_999_000.0

  /// Writes a time in UTC with the milliseconds that have passed; a time outside of the years 1 to 9999 is clamped.
  ///
  /// It is never later than the time itself: a client that asks for changes since then misses nothing.
  package static func text(of date: Date) -> String {
    let microseconds = Int(
      Double.minimum(
        Double.maximum((date.timeIntervalSince1970 * 1_000_000).rounded(), range.lowerBound), range.upperBound))
    let (second, remainder) = CivilCalendar.floored(microseconds, by: 1_000_000)
    let fraction = remainder / 1000
    let (day, time) = CivilCalendar.floored(second, by: secondsOfDay)
    let (year, month, dayOfMonth) = CivilCalendar.date(day)
    let texts = [
      digits(year, 4), "-", digits(month, 2), "-", digits(dayOfMonth, 2), "T", digits(time / 3600, 2), ":",
      digits(time / 60 % 60, 2), ":", digits(time % 60, 2), ".", digits(fraction, 3), "Z",
    ]
    return texts.joined()
  }

  /// Reads a time with any offset, with or without fractions of a second; nil for any other text.
  package static func date(from text: String) -> Date? {
    var rest = Array(text.utf8)[...]
    guard let year = number(&rest, 4), take(&rest, "-"), let month = number(&rest, 2), take(&rest, "-"),
      let day = number(&rest, 2), take(&rest, "Tt"), let hour = number(&rest, 2), take(&rest, ":"),
      let minute = number(&rest, 2), take(&rest, ":"), let second = number(&rest, 2), let fraction = fraction(&rest),
      let offset = offset(&rest), rest.isEmpty, hour < 24, minute < 60, second <= 60
    else { return nil }
    let days = CivilCalendar.days(year, month, day)
    guard CivilCalendar.date(days) == (year, month, day) else { return nil }
    // A leap second ends a day of UTC; any day may have one here.
    let time = hour * 3600 + minute * 60 + second - offset
    guard second < 60 || CivilCalendar.floored(time, by: secondsOfDay).remainder == 0 else { return nil }
    return Date(timeIntervalSince1970: Double(days * secondsOfDay + time) + fraction)
  }

  private static func number(_ rest: inout ArraySlice<UInt8>, _ count: Int) -> Int? {
    let taken = rest.prefix(count)
    guard taken.count == count, taken.allSatisfy(isDigit) else { return nil }
    rest = rest.dropFirst(count)
    return taken.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  private static func take(_ rest: inout ArraySlice<UInt8>, _ characters: String) -> Bool {
    guard let first = rest.first, characters.utf8.contains(first) else { return false }
    rest = rest.dropFirst()
    return true
  }

  private static func fraction(_ rest: inout ArraySlice<UInt8>) -> Double? {
    guard take(&rest, ".") else { return 0 }
    let taken = rest.prefix(while: isDigit)
    rest = rest[taken.endIndex...]
    return taken.isEmpty ? nil : Double("0." + String(decoding: taken, as: UTF8.self))
  }

  private static func offset(_ rest: inout ArraySlice<UInt8>) -> Int? {
    if take(&rest, "Zz") { return 0 }
    let isWest = rest.first == UInt8(ascii: "-")
    guard take(&rest, "+-"), let hours = number(&rest, 2), take(&rest, ":"), let minutes = number(&rest, 2),
      hours < 24, minutes < 60
    else { return nil }
    return (isWest ? -1 : 1) * (hours * 3600 + minutes * 60)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

  private static func digits(_ number: Int, _ count: Int) -> String {
    let text = String(number)
    return String(repeating: "0", count: max(0, count - text.count)) + text
  }
}

/// Converts between dates of the proleptic Gregorian calendar and days since 1970-01-01.
package enum CivilCalendar {
  // Years begin in March here, so that the leap day is the last day of a year. 400 years have 146097 days, and
  // 1970-01-01 is 719468 days after 0000-03-01.

  /// The number of days from 1970-01-01 to a date.
  package static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let (era, yearOfEra) = floored(month > 2 ? year : year - 1, by: 400)
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The date that lies a number of days after 1970-01-01.
  package static func date(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let (era, day) = floored(days + 719_468, by: 146_097)
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
    let dayOfYear = day - (365 * year + year / 4 - year / 100)
    let month = (5 * dayOfYear + 2) / 153
    let civilMonth = month < 10 ? month + 3 : month - 9
    return (era * 400 + year + (civilMonth <= 2 ? 1 : 0), civilMonth, dayOfYear - (153 * month + 2) / 5 + 1)
  }

  /// Divides with a remainder that is never negative.
  package static func floored(_ number: Int, by divisor: Int) -> (quotient: Int, remainder: Int) {
    let remainder = (number % divisor + divisor) % divisor
    return ((number - remainder) / divisor, remainder)
  }
}
