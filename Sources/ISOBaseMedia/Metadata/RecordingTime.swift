/// When a recording began, as files write it.
enum RecordingTime {
  // 1904 to 1970, the two beginnings of time.
  private static let seconds1904To1970 = 2_082_844_800.0
  // Before phones filmed, or beyond anybody's clock: a camera whose time was never set.
  private static let plausible = 946_684_800.0..<4_102_444_800.0

  /// The creation time of the movie header (ISO/IEC 14496-12, 8.2.2), which counts seconds since 1904 in UTC.
  static func seconds(movieHeader movie: Box) -> Double? {
    guard let reader = movie.child("mvhd")?.reader else { return nil }
    let time = reader.byte(at: 0) == 1 ? reader.unsigned64(at: 4) : reader.unsigned32(at: 4).map(UInt64.init)
    guard let time else { return nil }
    let seconds = Double(time) - seconds1904To1970
    return plausible.contains(seconds) ? seconds : nil
  }

  /// A time such as `2022-11-06T13:26:52-0500` (ISO 8601).
  static func seconds(iso8601 text: String) -> Double? {
    let bytes = Array(text.utf8)
    func number(_ range: Range<Int>) -> Int? {
      guard range.upperBound <= bytes.count else { return nil }
      return bytes[range].reduce(0 as Int?) { sum, byte in
        sum.flatMap { (0x30...0x39).contains(byte) ? $0 * 10 + Int(byte) - 0x30 : nil }
      }
    }
    guard let year = number(0..<4), let month = number(5..<7), let day = number(8..<10), let hour = number(11..<13),
      let minute = number(14..<16), let second = number(17..<19), (1...12).contains(month), (1...31).contains(day),
      hour < 24, minute < 60, second <= 60
    else { return nil }
    var zone = bytes.dropFirst(19).drop { $0 != 0x2B && $0 != 0x2D && $0 != 0x5A }
    var offset = 0
    if let sign = zone.popFirst(), sign != 0x5A {
      let digits = zone.filter { $0 != 0x3A }.compactMap { (0x30...0x39).contains($0) ? Int($0) - 0x30 : nil }
      guard digits.count >= 2 else { return nil }
      let minutes = digits.count >= 4 ? digits[2] * 10 + digits[3] : 0
      offset = ((digits[0] * 10 + digits[1]) * 60 + minutes) * (sign == 0x2D ? -60 : 60)
    }
    let seconds = daysSince1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset
    return plausible.contains(Double(seconds)) ? Double(seconds) : nil
  }

  /// Days in the Gregorian calendar, counted in years that begin with March, so that the leap day comes last.
  private static func daysSince1970(_ year: Int, _ month: Int, _ day: Int) -> Int {
    let year = month <= 2 ? year - 1 : year
    let century = year / 400
    let inCentury = year - century * 400
    let inYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
    return century * 146_097 + inCentury * 365 + inCentury / 4 - inCentury / 100 + inYear - 719_468
  }
}
