/// The URL of a request: a server, and a path on it.
package struct RequestURL: Sendable, Hashable {
  package let server: ServerAddress
  /// With the query.
  package let path: String

  /// Parses `https://HOST[:PORT]/PATH[?QUERY]`, or the same with `http`; nil for any other text, such as one with a password.
  package init?(_ url: String) {
    guard url.utf8.count <= 2000, url.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") }),
      let scheme = url.firstRange(of: "://")
    else { return nil }
    let end = url[scheme.upperBound...].firstIndex { $0 == "/" || $0 == "?" } ?? url.endIndex
    guard let server = ServerAddress(url: String(url[..<end])) else { return nil }
    self.server = server
    path = (url[end...].hasPrefix("/") ? "" : "/") + url[end...]
  }
}
