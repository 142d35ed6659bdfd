import Glibc

/// Writes the head of an answer (RFC 9112, section 4).
enum ResponseHead {
  /// The bytes of a head; nil where a field is not fit to be sent, such as one with a line break in it.
  static func bytes(_ status: Status, _ headers: HeaderFields) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    bytes += "HTTP/1.1 \(status.code) \(status.phrase)\r\n".utf8
    for field in headers {
      guard !field.name.isEmpty, field.name.utf8.allSatisfy(\.isTokenCharacter),
        field.value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 })
      else { return nil }
      bytes += field.name.utf8
      bytes += ": ".utf8
      bytes += field.value.utf8
      bytes += "\r\n".utf8
    }
    bytes += "\r\n".utf8
    return bytes
  }

  /// A time as header fields have it (RFC 9110, section 5.6.7).
  ///
  /// - Parameter seconds: since 1970-01-01 UTC.
  static func date(_ seconds: Int) -> String {
    var seconds = time_t(seconds)
    var parts = tm()
    gmtime_r(&seconds, &parts)
    let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let day = "\(days[Int(parts.tm_wday)]), \(two(parts.tm_mday)) \(months[Int(parts.tm_mon)]) \(parts.tm_year + 1900)"
    return "\(day) \(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec)) GMT"
  }
}
