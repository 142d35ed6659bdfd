import Glibc

/// The date of a header field (RFC 9110, section 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`.
package enum HTTPDate {
  /// Seconds since 1970-01-01 UTC; nil for another text.
  package static func seconds(_ text: String) -> Int? {
    let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
    let words = text.split(separator: " ")
    guard words.count == 6, words[5] == "GMT", let month = months.firstIndex(of: String(words[2])),
      let day = Int32(words[1]), 1...31 ~= day, let year = Int32(words[3]), 1970...9999 ~= year
    else { return nil }
    let time = words[4].split(separator: ":").compactMap { Int32($0) }
    guard time.count == 3, time.allSatisfy({ 0...60 ~= $0 }) else { return nil }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (year - 1900, Int32(month), day)
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (time[0], time[1], time[2])
    return timegm(&parts)
  }
}

extension HTTPResponse {
  /// The value of Retry-After (RFC 9110, section 10.2.3), in seconds, at most a day.
  ///
  /// - Parameter now: in seconds since 1970-01-01 UTC.
  package func retryAfter(now: Int) -> Int? {
    guard let text = headers["retry-after"] else { return nil }
    guard let seconds = Int(text) ?? HTTPDate.seconds(text).map({ max(0, $0 - now) }), seconds >= 0 else { return nil }
    return min(seconds, 86_400)
  }
}
