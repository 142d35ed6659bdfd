import Glibc
internal import Platform

/// A strict parser of request heads. It refuses input that two parsers could interpret differently (RFC 9112,
/// section 11.2).
struct HeadParser {
  /// The limits of a head.
  struct Limits: Sendable {
    /// The maximum length of the request line, in bytes.
    var requestLine = 8 << 10
    /// The maximum length of the head, in bytes.
    var head = 32 << 10
    /// The maximum number of fields.
    var fields = 128
  }

  private let limits: Limits
  /// The number of bytes at the start of the input that do not contain the end of the head.
  private(set) var scanned = 0
  /// The offset of the current line.
  private var lineStart = 0
  private var lines: [Range<Int>] = []

  init(limits: Limits) { self.limits = limits }

  /// Parses the head at the start of the input. Between calls, the input may only grow.
  ///
  /// - Returns: the head and its length in bytes; nil if it is incomplete.
  mutating func parse(_ input: ArraySlice<UInt8>) throws(Problem) -> (head: RequestHead, count: Int)? {
    let start = input.startIndex
    while start + scanned < input.endIndex {
      let rest = input[(start + scanned)...]
      let lineFeed = rest.position(of: 0x0A)
      let line = rest[..<(lineFeed.map { $0 + 1 } ?? rest.endIndex)]
      scanned += line.count
      try checkSize()
      guard line.position(of: 0) == nil else { throw .malformedRequest("The head of the request contains a NUL.") }
      guard lineFeed != nil else { break }
      let end = scanned - 2
      guard end >= lineStart, input[start + end] == UInt8(ascii: "\r") else {
        throw .malformedRequest("A line of the head ends without CR.")
      }
      let content = lineStart..<end
      lineStart = scanned
      // Empty lines before the request line are ignored (RFC 9112, section 2.2).
      if content.isEmpty && lines.isEmpty { continue }
      guard content.isEmpty else {
        lines.append(content)
        continue
      }
      let texts = lines.map { input[(start + $0.lowerBound)..<(start + $0.upperBound)] }
      let head = try Self.head(texts)
      let count = scanned
      self = HeadParser(limits: limits)
      return (head, count)
    }
    return nil
  }

  /// Whether a part of a request has been received, other than empty lines before it.
  var hasStarted: Bool { scanned > lineStart || !lines.isEmpty }

  private func checkSize() throws(Problem) {
    // The first line is the request line.
    if lines.isEmpty && scanned > limits.requestLine {
      throw Problem(
        .requestLineTooLong, detail: "The request line is longer than \(limits.requestLine) bytes.",
        remedy: "Send a shorter path or query.")
    }
    if scanned > limits.head || lines.count > limits.fields + 1 {
      throw Problem(
        .headTooLarge,
        detail: "The head of the request is longer than \(limits.head) bytes or has more than \(limits.fields) fields.",
        remedy: "Send fewer and shorter header fields.")
    }
  }

  private static func head(_ lines: [ArraySlice<UInt8>]) throws(Problem) -> RequestHead {
    let (method, target, version) = try requestLine(lines[0])
    var headers = HeaderFields()
    for line in lines.dropFirst() {
      let field = try field(line)
      headers.append(field.name, field.value)
    }
    let framing = try framing(version, headers)
    try checkHost(version, headers)
    guard !headers.elements(of: "Expect", equalTo: "100-continue").hasOthers else {
      throw Problem(
        .expectationFailed, detail: "The only supported expectation is 100-continue.", remedy: "Send no Expect.")
    }
    return RequestHead(method: method, target: target, version: version, headers: headers, framing: framing)
  }

  private static func requestLine(
    _ line: ArraySlice<UInt8>
  ) throws(Problem) -> (String, RequestTarget, RequestHead.Version) {
    let parts = line.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard parts.count == 3 else {
      throw .malformedRequest("The request line is not a method, a target and a version, separated by single spaces.")
    }
    guard !parts[0].isEmpty, parts[0].allSatisfy(\.isTokenCharacter) else {
      throw .malformedRequest("The method is empty or contains an invalid character.")
    }
    guard let version = RequestHead.Version(rawValue: text(parts[2])) else {
      let numbers = parts[2].dropFirst(5).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
      guard parts[2].starts(with: "HTTP/".utf8), numbers.map(\.count) == [1, 1],
        numbers.joined().allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), numbers[0].first != UInt8(ascii: "1")
      else { throw .malformedRequest("The request line has no valid HTTP version.") }
      throw Problem(
        .versionNotSupported, detail: "The server supports HTTP/1.1 and HTTP/1.0.",
        remedy: "Send the request as HTTP/1.1.")
    }
    guard let target = RequestTarget(text(parts[1])) else {
      throw .malformedRequest(
        "The request target is no path with valid percent-encoding of \(ExternalText.expected), or has too many parameters."
      )
    }
    return (text(parts[0]), target, version)
  }

  /// Parses a line of a header or trailer section (RFC 9112, section 5).
  static func field(_ line: ArraySlice<UInt8>) throws(Problem) -> HeaderFields.Field {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
      line[..<colon].allSatisfy(\.isTokenCharacter)
    else {
      throw .malformedRequest("The name of a header field is empty or contains an invalid character.")
    }
    let name = text(line[..<colon])
    let value = line[(colon + 1)...].drop(while: \.isBlank)
    guard !value.hasControlCharacter else {
      throw .malformedRequest("The header field \(name) contains a control character.")
    }
    let end = value.lastIndex { !$0.isBlank }.map { $0 + 1 } ?? value.startIndex
    return HeaderFields.Field(name: name, value: text(value[..<end]))
  }

  private static func framing(
    _ version: RequestHead.Version, _ headers: HeaderFields
  ) throws(Problem) -> RequestHead.Framing {
    let lengths = headers.values("Content-Length")
    let codings = headers.values("Transfer-Encoding")
    guard lengths.count <= 1 else { throw .malformedRequest("The request has more than one Content-Length.") }
    if let text = lengths.first {
      guard codings.isEmpty else {
        throw .malformedRequest("The request has both Content-Length and Transfer-Encoding.")
      }
      guard !text.isEmpty, text.utf8.allSatisfy({ $0 >= 0x30 && $0 <= 0x39 }), let length = Int64(text) else {
        throw .malformedRequest("Content-Length is not a number of bytes.")
      }
      return length == 0 ? .none : .length(min(length, RequestHead.maxBodyBytes))
    }
    guard !codings.isEmpty else { return .none }
    guard version == .http11 else { throw .malformedRequest("\(version.rawValue) has no Transfer-Encoding.") }
    guard codings.count == 1, codings[0].lowercasedASCII == "chunked" else {
      throw .malformedRequest("The only supported Transfer-Encoding is chunked.")
    }
    return .chunked
  }

  private static func checkHost(_ version: RequestHead.Version, _ headers: HeaderFields) throws(Problem) {
    let hosts = headers.values("Host")
    guard version == .http11 ? hosts.count == 1 : hosts.count <= 1 else {
      throw .malformedRequest("The request must have exactly one Host.")
    }
    // A name or address with an optional port, without user information (RFC 3986, section 3.2.2).
    guard hosts.allSatisfy({ $0.utf8.allSatisfy(\.isHostCharacter) }) else {
      throw .malformedRequest("Host is not a name or an address.")
    }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String { bytes.withUnsafeBytes(ExternalText.latin) }
}

extension ArraySlice<UInt8> {
  /// The index of the first byte of a value; a head of 32 KiB is searched at a glance (memchr(3)).
  fileprivate func position(of byte: Int32) -> Int? {
    withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress, let found = memchr(start, byte, bytes.count) else { return nil }
      return startIndex + UnsafeRawPointer(start).distance(to: found)
    }
  }

  /// Whether there is a control character other than a tab. Without an early end, the compiler looks at many bytes at once.
  fileprivate var hasControlCharacter: Bool {
    withUnsafeBytes { bytes in
      var found: UInt8 = 0
      for byte in bytes { found |= (byte < 0x20 ? 1 : 0) & (byte != 0x09 ? 1 : 0) | (byte == 0x7F ? 1 : 0) }
      return found != 0
    }
  }
}
