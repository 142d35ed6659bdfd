/// What a service answered.
package struct HTTPAnswer: Sendable {
  package let status: Int
  /// By name in lower case.
  package let headers: [String: String]
  package let body: [UInt8]

  package init(status: Int, headers: [String: String], body: [UInt8]) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Reads a whole answer of a connection that was closed after it (RFC 9112); nil if it is none.
  package init?(_ bytes: [UInt8]) {
    guard let end = Self.endOfHead(bytes) else { return nil }
    let lines = String(decoding: bytes[..<end], as: UTF8.self).split(
      separator: "\r\n", omittingEmptySubsequences: false)
    let words = lines[0].split(separator: " ")
    guard words.count >= 2, words[0].hasPrefix("HTTP/1."), let status = Int(words[1]) else { return nil }
    var headers: [String: String] = [:]
    for line in lines.dropFirst() {
      guard let colon = line.firstIndex(of: ":") else { continue }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      headers[line[..<colon].lowercased()] = String(value)
    }
    let rest = Array(bytes[(end + 4)...])
    if status == 100 {
      guard let next = HTTPAnswer(rest) else { return nil }
      self = next
      return
    }
    guard let body = Self.body(rest, headers: headers) else { return nil }
    self.init(status: status, headers: headers, body: body)
  }

  private static func endOfHead(_ bytes: [UInt8]) -> Int? {
    let mark = Array("\r\n\r\n".utf8)
    guard bytes.count >= mark.count else { return nil }
    return (0...(bytes.count - mark.count)).first { bytes[$0..<($0 + mark.count)].elementsEqual(mark) }
  }

  private static func body(_ bytes: [UInt8], headers: [String: String]) -> [UInt8]? {
    if headers["transfer-encoding"]?.lowercased() == "chunked" { return unchunked(bytes) }
    guard let length = headers["content-length"].flatMap(Int.init) else { return bytes }
    return bytes.count >= length ? Array(bytes.prefix(length)) : nil
  }

  private static func unchunked(_ bytes: [UInt8]) -> [UInt8]? {
    var rest = bytes[...]
    var body: [UInt8] = []
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      let line = String(decoding: rest[..<end], as: UTF8.self).prefix { $0.isHexDigit }
      guard let count = Int(line, radix: 16) else { return nil }
      rest = rest[(end + 1)...]
      if count == 0 { return body }
      guard rest.count >= count + 2 else { return nil }
      body += rest.prefix(count)
      rest = rest.dropFirst(count + 2)
    }
    return nil
  }
}
