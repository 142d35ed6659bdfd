/// The address of a service: `http://HOST:PORT` or `https://HOST:PORT`.
package struct ServerAddress: Sendable, Hashable, CustomStringConvertible {
  /// The scheme of the URL.
  package enum Scheme: String, Sendable {
    case http
    case https

    fileprivate var port: UInt16 {
      switch self {
      case .http: 80
      case .https: 443
      }
    }
  }

  package let scheme: Scheme
  package let host: String
  package let port: UInt16

  package init(scheme: Scheme = .http, host: String, port: UInt16) {
    self.scheme = scheme
    self.host = host
    self.port = port
  }

  /// Parses `http://HOST[:PORT][/]`, or the same with `https`; nil for any other text.
  package init?(url: String) {
    guard let end = url.firstRange(of: "://"), let scheme = Scheme(rawValue: url[..<end.lowerBound].lowercased()) else {
      return nil
    }
    self.scheme = scheme
    var rest = url[end.upperBound...]
    if rest.hasSuffix("/") { rest = rest.dropLast() }
    guard !rest.isEmpty, rest.allSatisfy({ $0.isASCII && !"/@?#\\".contains($0) && $0 > " " }) else { return nil }
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
      port = scheme.port
    } else {
      guard rest.hasPrefix(":"), let number = UInt16(rest.dropFirst()) else { return nil }
      port = number
    }
  }

  /// The authority component of a URL, which is also the value of a Host field.
  package var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  package var description: String { "\(scheme.rawValue)://\(authority)" }
}
