import Crypto
import HTTPClient
import Platform

/// Where the key set of an identity provider is: a file, or a URL.
enum KeySetLocation: Sendable, Hashable {
  case file(String)
  case url(ServerAddress, path: String)

  /// The time for a whole request, in seconds.
  private static let timeout = 5

  /// Reads a path, `https://HOST[:PORT]/PATH`, or the same with `http` and an address of loopback; nil for other texts.
  /// Keys that are changed on their way would sign tokens of any user, so that other machines need TLS.
  init?(_ text: String) {
    guard let scheme = text.firstRange(of: "://") else {
      guard !text.isEmpty else { return nil }
      self = .file(text)
      return
    }
    let end = text[scheme.upperBound...].firstIndex(of: "/") ?? text.endIndex
    let path = text[end...]
    guard let server = ServerAddress(url: String(text[..<end])),
      path.allSatisfy({ $0.isASCII && $0 > " " && $0 != "#" }),
      server.scheme == .https || Self.isLoopback(server)
    else { return nil }
    self = .url(server, path: path.isEmpty ? "/" : String(path))
  }

  private static func isLoopback(_ server: ServerAddress) -> Bool {
    server.host == "localhost" || IPAddress(server.host)?.isLoopback == true
  }

  /// Reads the JSON of the key set; blocks.
  func load() throws -> [UInt8] {
    switch self {
    case .file(let path):
      // A byte more than the maximum, so that a longer file is refused.
      return try Descriptor(reading: path).bytes(count: KeySet.maxBytes + 1, at: 0)
    case .url(let server, let path):
      // A plain request stays on this machine.
      let client = HTTPClient(server: server, usesProxies: server.scheme == .https)
      let response = try client.get(path, maxBytes: KeySet.maxBytes, within: Self.timeout)
      guard response.status == 200 else {
        throw HTTPClientError("\(server) responded with status \(response.status) instead of a key set")
      }
      return response.body
    }
  }
}

extension OptionValues {
  /// A file with a key set, or its URL.
  static let keySet = OptionValues.format("key set") { text in
    KeySetLocation(text) == nil
      ? "must be a file, https://HOST/PATH, or http:// with an address of this machine, not '\(text)'" : nil
  }
}
