internal import Platform

/// The head of a request: request line, header fields and the framing of its body (RFC 9112).
package struct RequestHead: Sendable, Hashable {
  package let method: String
  package let target: RequestTarget
  package let version: Version
  package let headers: HeaderFields
  /// How the length of the body is determined.
  let framing: Framing
  /// Whether the client waits for 100 Continue before it sends the body (RFC 9110, section 10.1.1).
  let expectsContinue: Bool
  /// Whether the connection does not persist after the response (RFC 9112, section 9.3).
  let endsConnection: Bool

  /// The largest length of a body. No client sends more, and sums of a few such lengths do not overflow: a longer one counts as this.
  package static let maxBodyBytes: Int64 = 1 << 60

  /// A version of HTTP/1; the server supports no other.
  package enum Version: String, Sendable {
    case http10 = "HTTP/1.0"
    case http11 = "HTTP/1.1"
  }

  enum Framing: Sendable, Hashable {
    case none
    case length(Int64)
    case chunked
  }

  /// The requested host in lowercase, without its port; nil if the request names none.
  package var host: String? {
    guard let text = authority?.utf8 else { return nil }
    if text.first == UInt8(ascii: "[") {
      guard let end = text.firstIndex(of: UInt8(ascii: "]")) else { return nil }
      let rest = text[end...].dropFirst()
      guard rest.isEmpty || rest.first == UInt8(ascii: ":") else { return nil }
      return Substring(text[..<end].dropFirst()).lowercasedASCII
    }
    return Substring(text.prefix { $0 != UInt8(ascii: ":") }).lowercasedASCII
  }

  /// The requested host with its port; a target in absolute form overrides the Host field (RFC 9112, section 3.2.2).
  package var authority: String? { target.authority ?? headers["Host"] }

  /// The length of the body in bytes; nil if it is chunked.
  package var contentLength: Int64? {
    switch framing {
    case .none: 0
    case .length(let length): length
    case .chunked: nil
    }
  }

  var hasBody: Bool { contentLength != 0 }

  init(method: String, target: RequestTarget, version: Version, headers: HeaderFields, framing: Framing) {
    (self.method, self.target, self.version, self.headers, self.framing) = (method, target, version, headers, framing)
    // Connections ask for these again and again.
    expectsContinue =
      version == .http11 && framing != .none
      && headers.elements(of: "Expect", equalTo: "100-continue").hasElement
    endsConnection =
      headers.elements(of: "Connection", equalTo: "close").hasElement
      || version == .http10 && !headers.elements(of: "Connection", equalTo: "keep-alive").hasElement
  }
}

/// The target of a request: a path and a query, decoded (RFC 9112, section 3.2; RFC 3986, section 2.1).
package struct RequestTarget: Sendable, Hashable {
  /// The path as received, without the query, which a log must not show.
  package let path: String
  /// The host and port of a target in absolute form.
  let authority: String?
  /// The decoded segments of the path.
  package let segments: [String]
  /// The decoded parameters of the query, in order; a name without `=` has an empty value.
  package let query: [QueryItem]

  /// The maximum number of parameters of a query; no list takes more than some hundreds.
  private static let maxParameters = 1000

  /// One `name=value` pair of a query.
  package struct QueryItem: Sendable, Hashable {
    package let name: String
    package let value: String
  }

  /// Parses a target in origin form or absolute form; nil if it has another form, too many parameters, or is no `ExternalText` after percent-decoding.
  package init?(_ target: String) {
    guard target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    let (slash, mark) = (UInt8(ascii: "/"), UInt8(ascii: "?"))
    var rest = Substring(target).utf8
    if rest.first == slash {
      authority = nil
    } else {
      let start = target.lowercasedASCII.utf8
      guard let scheme = ["http://", "https://"].first(where: { start.starts(with: $0.utf8) }) else { return nil }
      rest = rest.dropFirst(scheme.utf8.count)
      let authority = rest.prefix { $0 != slash && $0 != mark }
      guard !authority.isEmpty, authority.allSatisfy(\.isHostCharacter) else { return nil }
      self.authority = String(Substring(authority))
      rest = rest[authority.endIndex...]
      if rest.isEmpty { rest = Substring("/").utf8 }
    }
    let path = rest.prefix { $0 != mark }
    var segments: [String] = []
    for segment in path.dropFirst().split(separator: slash, omittingEmptySubsequences: false) {
      guard let decoded = Self.decode(Substring(segment)) else { return nil }
      segments.append(decoded)
    }
    var query: [QueryItem] = []
    guard rest.count(where: { $0 == UInt8(ascii: "&") }) < Self.maxParameters else { return nil }
    for pair in rest[path.endIndex...].dropFirst().split(separator: UInt8(ascii: "&")) {
      let name = pair.prefix { $0 != UInt8(ascii: "=") }
      guard let decodedName = Self.decode(Substring(name), plusIsBlank: true),
        let value = Self.decode(Substring(pair[name.endIndex...].dropFirst()), plusIsBlank: true)
      else { return nil }
      query.append(QueryItem(name: decodedName, value: value))
    }
    self.path = String(Substring(path))
    self.segments = segments
    self.query = query
  }

  /// The first value of a query parameter.
  package func queryValue(_ name: String) -> String? {
    query.first { $0.name.utf8.elementsEqual(name.utf8) }?.value
  }

  /// Decodes percent-encoded text; nil if the encoding is invalid, or if the result is no `ExternalText` or contains NUL.
  package static func decode(_ text: Substring, plusIsBlank: Bool = false) -> String? {
    let (percent, plus) = (UInt8(ascii: "%"), UInt8(ascii: "+"))
    // Characters that are not encoded are ASCII, as all of a target.
    if text.utf8.allSatisfy({ $0 != percent && $0 != plus && 0x20..<0x7F ~= $0 }) { return String(text) }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count)
    var rest = text.utf8[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst()?.hexadecimalValue, let low = rest.popFirst()?.hexadecimalValue else {
          return nil
        }
        bytes.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsBlank: bytes.append(0x20)
      default: bytes.append(byte)
      }
    }
    guard !bytes.contains(0) else { return nil }
    return ExternalText.decode(bytes)
  }
}
