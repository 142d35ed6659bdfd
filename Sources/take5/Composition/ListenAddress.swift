/// Where the service listens: `HOST:PORT`.
struct ListenAddress: Hashable {
  let host: String
  let port: UInt16

  /// Reads `HOST:PORT`, `[::1]:PORT` or `:PORT`; nil for anything else.
  init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
    var host = String(text[..<colon])
    if host.hasPrefix("[") && host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    self.host = host.isEmpty ? "127.0.0.1" : host
    self.port = port
  }

  /// Whether only this machine can reach it.
  var isLoopback: Bool {
    if host == "localhost" || host == "::1" { return true }
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
    return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
  }

  /// As it stands in a URL.
  func url(port: UInt16) -> String { host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)" }
}
