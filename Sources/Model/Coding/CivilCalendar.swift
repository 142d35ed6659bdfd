/// The proleptic Gregorian calendar as arithmetic: days since 1970-01-01, and the dates that they are.
package enum CivilCalendar {
  // Years of these two begin in March, so that the day that may be missing is the last one; 400 of them always have
  // 146097 days, and 1970-01-01 is 719468 days after 0000-03-01.

  /// The days from 1970-01-01 to a date.
  package static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let (era, yearOfEra) = floored(month > 2 ? year : year - 1, by: 400)
    let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
  }

  /// The date so many days after 1970-01-01.
  package static func date(_ days: Int) -> (year: Int, month: Int, day: Int) {
    let (era, day) = floored(days + 719_468, by: 146_097)
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365
    let dayOfYear = day - (365 * year + year / 4 - year / 100)
    let month = (5 * dayOfYear + 2) / 153
    let civilMonth = month < 10 ? month + 3 : month - 9
    return (era * 400 + year + (civilMonth <= 2 ? 1 : 0), civilMonth, dayOfYear - (153 * month + 2) / 5 + 1)
  }

  /// Divides so that the rest is never negative.
  package static func floored(_ number: Int, by divisor: Int) -> (quotient: Int, rest: Int) {
    let rest = (number % divisor + divisor) % divisor
    return ((number - rest) / divisor, rest)
  }
}
