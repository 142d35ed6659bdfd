/// The addresses that a URL which a client names may have: those that are global unicast and of no special purpose (IANA, IPv4 and IPv6
/// Special-Purpose Address Registries). This service connects to it from the inside.
package enum PublicAddresses {
  private static let special = [
    // This network, private networks, shared address space, loopback, link-local.
    "0.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16",
    // Protocol assignments, documentation, 6to4 relays, benchmarks.
    "192.0.0.0/24", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24", "192.88.99.0/24", "198.18.0.0/15",
    // Multicast, reserved, broadcast.
    "224.0.0.0/4", "240.0.0.0/4",
    // Protocol assignments with Teredo, documentation, 6to4.
    "2001::/23", "2001:db8::/32", "3fff::/20", "2002::/16",
  ].compactMap { AddressRange($0) }
  // All that is not in it is loopback, link-local, unique local, multicast, IPv4-compatible, translated or not assigned.
  private static let globalUnicast = AddressRange("2000::/3")

  package static func contains(_ address: IPAddress) -> Bool {
    (address.isVersion4 || globalUnicast?.contains(address) == true) && !special.contains { $0.contains(address) }
  }
}
