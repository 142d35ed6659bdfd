internal import HTTPClient
internal import Platform

/// What endpoints may be besides public ones with TLS: hosts and ranges of addresses, such as `mailer.internal` and `10.0.0.0/8`.
package struct WebhookPermits: Sendable, Hashable {
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
        hosts.insert(part.lowercased())
      }
    }
  }

  /// Whether messages are sent to an address that a host has.
  func admits(_ address: IPAddress, of host: String) -> Bool {
    PublicAddresses.contains(address) || names(host) || ranges.contains { $0.contains(address) }
  }

  /// What is wrong with the URL of an endpoint; nil if nothing is. Its name is resolved when something is sent.
  package func problem(with url: String) -> String? {
    guard let target = RequestURL(url) else { return "expected a URL such as https://app.example.org/take5" }
    let host = target.server.host
    let address = IPAddress(host)
    if target.server.scheme == .http, !names(host), !ranges.contains(where: { address.map($0.contains) ?? false }) {
      return "must begin with https://, unless --webhook-permit names the host"
    }
    guard let address, !admits(address, of: host) else { return nil }
    return "has an address that is not public, and that --webhook-permit does not name"
  }

  private func names(_ host: String) -> Bool { hosts.contains(host.lowercased()) }
}
