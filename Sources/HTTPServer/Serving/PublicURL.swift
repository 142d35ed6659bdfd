/// The URL at which clients reach the service, such as `https://app.example.org/api`: a proxy removes its path before the service sees it.
package struct PublicURL: Sendable, Hashable, CustomStringConvertible {
  /// The scheme, the host and the port.
  package let origin: String
  /// What precedes the paths of the service; empty, or with a slash at its beginning and none at its end.
  package let prefix: String

  /// Parses `https://HOST[:PORT][/PATH]`, or the same with `http`; nil for any other text, such as one with a query.
  package init?(_ text: String) {
    guard text.hasPrefix("https://") || text.hasPrefix("http://"), text.utf8.count <= 1000,
      text.utf8.allSatisfy({ 0x21...0x7e ~= $0 && !#"?#@"\<>"#.utf8.contains($0) }),
      let start = text.firstRange(of: "://")?.upperBound
    else { return nil }
    let slash = UInt8(ascii: "/")
    let end = text.utf8[start...].firstIndex(of: slash) ?? text.endIndex
    guard end > start else { return nil }
    origin = String(text[..<end])
    let segments = text.utf8[end...].split(separator: slash).compactMap { String($0) }
    guard Set(segments).isDisjoint(with: [".", ".."]) else { return nil }
    prefix = segments.map { "/" + $0 }.joined()
  }

  package var description: String { origin + prefix }
}
