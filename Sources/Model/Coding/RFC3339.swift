package import FoundationEssentials

/// Reads and writes times as RFC 3339 says, in the proleptic Gregorian calendar.
///
/// Foundation's style is more lenient (it takes the 30th of February, and text behind the time), knows no offset of 18
/// hours, and counts days before 1582 as Julius Caesar did, which PostgreSQL does not.
package enum RFC3339 {
  private static let secondsOfDay = 86_400

  /// From the year 1 to the year 9999, in milliseconds since 1970-01-01 UTC.
  private static let range = -62_135_596_800_000.0...253_402_300_799_999.0

  /// A time in UTC, to the millisecond; one that no four digits of a year can say is the first or last that they can.
  package static func text(of date: Date) -> String {
    let milliseconds = Int(
      Double.minimum(Double.maximum((date.timeIntervalSince1970 * 1000).rounded(), range.lowerBound), range.upperBound))
    let (second, fraction) = CivilCalendar.floored(milliseconds, by: 1000)
    let (day, time) = CivilCalendar.floored(second, by: secondsOfDay)
    let (year, month, dayOfMonth) = CivilCalendar.date(day)
    let texts = [
      digits(year, 4), "-", digits(month, 2), "-", digits(dayOfMonth, 2), "T", digits(time / 3600, 2), ":",
      digits(time / 60 % 60, 2), ":", digits(time % 60, 2), ".", digits(fraction, 3), "Z",
    ]
    return texts.joined()
  }

  /// Reads a time with or without fractions of a second and with any offset; nil if it is anything else.
  package static func date(from text: String) -> Date? {
    var rest = Array(text.utf8)[...]
    guard let year = number(&rest, 4), take(&rest, "-"), let month = number(&rest, 2), take(&rest, "-"),
      let day = number(&rest, 2), take(&rest, "Tt"), let hour = number(&rest, 2), take(&rest, ":"),
      let minute = number(&rest, 2), take(&rest, ":"), let second = number(&rest, 2), let fraction = fraction(&rest),
      let offset = offset(&rest), rest.isEmpty, hour < 24, minute < 60, second <= 60
    else { return nil }
    let days = CivilCalendar.days(year, month, day)
    guard CivilCalendar.date(days) == (year, month, day) else { return nil }
    // A leap second ends a day of UTC; which days have one, nobody needs to know.
    let time = hour * 3600 + minute * 60 + second - offset
    guard second < 60 || CivilCalendar.floored(time, by: secondsOfDay).rest == 0 else { return nil }
    return Date(timeIntervalSince1970: Double(days * secondsOfDay + time) + fraction)
  }

  private static func number(_ rest: inout ArraySlice<UInt8>, _ count: Int) -> Int? {
    let taken = rest.prefix(count)
    guard taken.count == count, taken.allSatisfy(isDigit) else { return nil }
    rest = rest.dropFirst(count)
    return taken.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
  }

  private static func take(_ rest: inout ArraySlice<UInt8>, _ any: String) -> Bool {
    guard let first = rest.first, any.utf8.contains(first) else { return false }
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
