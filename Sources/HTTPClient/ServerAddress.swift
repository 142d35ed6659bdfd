/// Where a service listens: `http://HOST:PORT`.
package struct ServerAddress: Sendable, Hashable, CustomStringConvertible {
  package let host: String
  package let port: UInt16

  package init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Reads `http://HOST[:PORT][/]`; nil for anything else: TLS is a reverse proxy's business.
  package init?(url: String) {
    guard url.hasPrefix("http://") else { return nil }
    var rest = url.dropFirst("http://".count)
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    guard !rest.isEmpty, !rest.contains("/"), !rest.contains("@") else { return nil }
    if rest.hasPrefix("["), let end = rest.firstIndex(of: "]") {
      host = String(rest[rest.index(after: rest.startIndex)..<end])
      rest = rest[rest.index(after: end)...]
    } else {
      let end = rest.firstIndex(of: ":") ?? rest.endIndex
      host = String(rest[..<end])
      rest = rest[end...]
    }
    guard !host.isEmpty else { return nil }
    if rest.isEmpty {
      port = 80
    } else {
      guard rest.hasPrefix(":"), let number = UInt16(rest.dropFirst()) else { return nil }
      port = number
    }
  }

  /// As it stands in a URL and in a Host header.
  package var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  package var description: String { "http://\(authority)" }
}
