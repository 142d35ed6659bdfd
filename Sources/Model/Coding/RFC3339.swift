package import FoundationEssentials

/// Reads and writes times as RFC 3339 says, in the proleptic Gregorian calendar.
///
/// Foundation's style is more lenient (it takes the 30th of February, and text behind the time), knows no offset of 18
/// hours, and counts days before 1582 as Julius Caesar did, which PostgreSQL does not.
package enum RFC3339 {
  private static let secondsOfDay = 86_400

  /// A time in UTC, to the millisecond.
  package static func text(of date: Date) -> String {
    let milliseconds = Int((date.timeIntervalSince1970 * 1000).rounded())
    let (second, fraction) = floored(milliseconds, by: 1000)
    let (day, time) = floored(second, by: secondsOfDay)
    let (year, month, dayOfMonth) = civil(day)
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
    let days = days(year, month, day)
    guard civil(days) == (year, month, day) else { return nil }
    // A leap second ends a day of UTC; which days have one, nobody needs to know.
    let time = hour * 3600 + minute * 60 + second - offset
    guard second < 60 || floored(time, by: secondsOfDay).rest == 0 else { return nil }
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

  private static func floored(_ number: Int, by divisor: Int) -> (quotient: Int, rest: Int) {
    let rest = (number % divisor + divisor) % divisor
    return ((number - rest) / divisor, rest)
  }

  // Years of these two begin in March, so that the day that may be missing is the last one; 400 of them always have
  // 146097 days, and 1970-01-01 is 719468 days after 0000-03-01.
  private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let (era, yearOfEra) = floored(month > 2 ? year : year - 1, by: 400)
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  private static func civil(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let (era, day) = floored(days + 719_468, by: 146_097)
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
    let dayOfYear = day - (365 * year + year / 4 - year / 100)
    let month = (5 * dayOfYear + 2) / 153
    let civilMonth = month < 10 ? month + 3 : month - 9
    return (era * 400 + year + (civilMonth <= 2 ? 1 : 0), civilMonth, dayOfYear - (153 * month + 2) / 5 + 1)
  }
}
