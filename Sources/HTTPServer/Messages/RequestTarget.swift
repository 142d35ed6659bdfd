/// What a request line asks for: a path and a query, decoded (RFC 9112 section 3.2, RFC 3986 section 2.1).
package struct RequestTarget: Sendable, Hashable {
  /// The path as it came, without the query: what a log may show.
  package let path: String
  /// The host and port of a target in absolute form.
  let authority: String?
  /// The decoded parts of the path between its slashes.
  package let segments: [String]
  /// The decoded pairs of the query, in order; a name without `=` has an empty value.
  package let query: [QueryItem]

  /// One `name=value` of a query.
  package struct QueryItem: Sendable, Hashable {
    package let name: String
    package let value: String
  }

  /// Reads a target in origin form or absolute form; nil when it is neither, or its escapes are not UTF-8 text.
  package init?(_ target: String) {
    guard target.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
    var rest = Substring(target)
    if rest.hasPrefix("/") {
      authority = nil
    } else {
      guard let scheme = ["http://", "https://"].first(where: { target.lowercasedASCII.hasPrefix($0) }) else {
        return nil
      }
      rest = rest.dropFirst(scheme.count)
      let authority = rest.prefix { $0 != "/" && $0 != "?" }
      guard !authority.isEmpty, authority.utf8.allSatisfy(\.isHostCharacter) else { return nil }
      self.authority = String(authority)
      rest = rest[authority.endIndex...]
      if rest.isEmpty { rest = "/" }
    }
    let path = rest.prefix { $0 != "?" }
    var segments: [String] = []
    for segment in path.dropFirst().split(separator: "/", omittingEmptySubsequences: false) {
      guard let decoded = Self.decode(segment) else { return nil }
      segments.append(decoded)
    }
    var query: [QueryItem] = []
    for pair in rest[path.endIndex...].dropFirst().split(separator: "&") {
      let name = pair.prefix { $0 != "=" }
      guard let decodedName = Self.decode(name, plusIsBlank: true),
        let value = Self.decode(pair[name.endIndex...].dropFirst(), plusIsBlank: true)
      else { return nil }
      query.append(QueryItem(name: decodedName, value: value))
    }
    self.path = String(path)
    self.segments = segments
    self.query = query
  }

  /// The first value of a name in the query.
  package func queryValue(_ name: String) -> String? { query.first { $0.name == name }?.value }

  private static func decode(_ text: Substring, plusIsBlank: Bool = false) -> String? {
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
    return String(validating: bytes, as: UTF8.self)
  }
}
