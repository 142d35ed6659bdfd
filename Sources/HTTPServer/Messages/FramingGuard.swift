/// Refuses request heads whose framing two parsers could read differently (RFC 9112 section 11.2, request smuggling).
///
/// libmicrohttpd 0.9.75 accepts several of these shapes, so that this check stands before anything else.
enum FramingGuard {
  /// What is wrong with a head, or nil.
  static func violation(version: String, headers: HeaderFields) -> String? {
    for field in headers {
      guard !field.name.isEmpty, field.name.utf8.allSatisfy(\.isTokenCharacter) else {
        return "A header field's name contains a blank or another character that no name may contain."
      }
      guard field.value.utf8.allSatisfy({ ($0 >= 0x20 && $0 != 0x7F) || $0 == 0x09 }) else {
        return "The header field \(field.name) contains a control character."
      }
    }
    let lengths = headers.values("Content-Length")
    let codings = headers.values("Transfer-Encoding")
    guard lengths.count <= 1 else { return "Content-Length stands more than once." }
    if let length = lengths.first {
      guard codings.isEmpty else { return "Content-Length and Transfer-Encoding exclude each other." }
      guard !length.isEmpty, length.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), Int64(length) != nil else {
        return "Content-Length is not a number of bytes."
      }
    }
    if !codings.isEmpty {
      guard version == "HTTP/1.1" else { return "Transfer-Encoding is unknown to \(version)." }
      guard codings.count == 1, codings[0].lowercasedASCII == "chunked" else {
        return "The only Transfer-Encoding understood here is chunked."
      }
    }
    let hosts = headers.values("Host")
    let isCounted = version == "HTTP/1.1" ? hosts.count == 1 : hosts.count <= 1
    return isCounted ? nil : "A request names exactly one Host."
  }
}
