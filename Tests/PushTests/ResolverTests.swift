import Platform
import Testing

@testable import Push

@Suite("Addresses of subscriptions")
struct ResolverTests {
  @Test(
    "a name in digits of any form resolves to the address that is checked",
    arguments: ["127.0.0.1", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "localhost", "::1", "::ffff:127.0.0.1"])
  func resolved(host: String) {
    let addresses = SocketAddress.resolve(Origin(host: host, port: 443))
    #expect(addresses.allSatisfy { !PublicAddresses.contains($0.address) && $0.address.isLoopback })
    if !host.contains(":") { #expect(!addresses.isEmpty) }
  }
}
