/// The address that a server listens on: `HOST:PORT`.
struct ListenAddress: Hashable {
  let host: String
  let port: UInt16

  init(host: String, port: UInt16) {
    self.host = host
    self.port = port
  }

  /// Reads `HOST:PORT`, `[::1]:PORT` or `:PORT`; nil for anything else.
  init?(_ text: String) {
    guard let colon = text.lastIndex(of: ":"), let port = UInt16(text[text.index(after: colon)...]) else { return nil }
    var host = String(text[..<colon])
    if host.hasPrefix("[") && host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
    self.host = host.isEmpty ? "127.0.0.1" : host
    self.port = port
  }

  /// Reads the value of an option; status 64 if it is not an address.
  init(parsing text: String) throws(CommandFailure) {
    guard let address = ListenAddress(text) else {
      throw CommandFailure(.usage, "'\(text)' is not an address to listen on", remedy: "write it as HOST:PORT")
    }
    self = address
  }

  /// Whether the address can be reached only from this machine.
  var isLoopback: Bool {
    if host == "localhost" || host == "::1" { return true }
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
    return numbers.count == 4 && numbers[0] == "127" && numbers.allSatisfy { UInt8($0) != nil }
  }

  /// The URL of a server on this host.
  func url(port: UInt16) -> String { host.contains(":") ? "http://[\(host)]:\(port)" : "http://\(host):\(port)" }
}

extension OptionValues {
  /// An address to listen on.
  static let address = OptionValues.format("address") { text in
    ListenAddress(text) == nil ? "must be an address to listen on, HOST:PORT, not '\(text)'" : nil
  }
}
