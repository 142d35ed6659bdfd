internal import HTTPClient
package import Kit
internal import Platform

/// What endpoints may be besides public ones with TLS: hosts and ranges of addresses, such as `mailer.internal` and `10.0.0.0/8`.
package struct WebhookPermits: RoomSetting, Hashable {
  private var ranges: [AddressRange] = []
  private var hosts: Set<String> = []

  package init() {}

  /// Parses a list with commas; nil for one of anything else.
  package init?(_ text: String) {
    for part in text.split(separator: ",") {
      if let range = AddressRange(String(part)) {
        ranges.append(range)
      } else {
        guard part.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "/") }) else { return nil }
        hosts.insert(Self.undotted(part.lowercased()))
      }
    }
  }

  /// Whether messages are sent to an address that a host has. It is judged when the service connects.
  func admits(_ address: IPAddress, of host: String) -> Bool {
    PublicAddresses.contains(address) || names(host) || ranges.contains { $0.contains(address) }
  }

  /// What is wrong with the URL of an endpoint; nil if nothing is. Its name is resolved when something is sent.
  package func problem(with url: String) -> String? {
    guard let target = RequestURL(url) else { return "expected a URL such as https://app.example.org/take5" }
    let host = Self.undotted(target.server.host)
    if names(host) { return nil }
    let address = IPAddress(host: host)
    if target.server.scheme == .http, !ranges.contains(where: { address.map($0.contains) ?? false }) {
      return "must begin with https://, unless --webhook-permit names the host"
    }
    guard let address else {
      return Self.isName(host)
        ? nil : "must have a public name or address as its host, unless --webhook-permit names the host"
    }
    return admits(address, of: host)
      ? nil : "has an address that is not public, and that --webhook-permit does not name"
  }

  private func names(_ host: String) -> Bool { hosts.contains(Self.undotted(host).lowercased()) }

  /// A host without the dot that may end its name.
  private static func undotted(_ host: String) -> String {
    host.utf8.last == UInt8(ascii: ".") ? String(host.dropLast()) : host
  }

  /// Whether a host is a name that may be public: labels of ASCII letters, digits, `-` and `_`, as those of other
  /// scripts are in Punycode. The last one is not `localhost` (RFC 6761, section 6.3), and no number, as the last part of an
  /// address is in each spelling.
  private static func isName(_ host: String) -> Bool {
    let labels = host.lowercased().utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard labels.allSatisfy({ !$0.isEmpty && $0.allSatisfy(isOfName) }), let last = labels.last, let first = last.first
    else { return false }
    // As "ends in a number" of the URL standard has it.
    let isNumber = last.allSatisfy(isDigit) || first == UInt8(ascii: "0") && last.dropFirst().first == UInt8(ascii: "x")
    return !isNumber && !last.elementsEqual("localhost".utf8)
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    isDigit(byte) || UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || "-_".utf8.contains(byte)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }
}

extension RoomSettings {
  package var webhookPermits: WebhookPermits {
    get { self[WebhookPermits.self] }
    set { self[WebhookPermits.self] = newValue }
  }
}
