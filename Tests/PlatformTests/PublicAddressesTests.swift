import Platform
import Testing

@Suite("public addresses")
struct PublicAddressesTests {
  @Test(
    "addresses of a special purpose are refused, from their first to their last",
    arguments: [
      "0.0.0.0", "0.255.255.255", "10.0.0.0", "10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.0",
      "127.0.0.1",
      "127.255.255.255", "169.254.0.0", "169.254.169.254", "169.254.255.255", "172.16.0.0", "172.31.255.255",
      "192.0.0.0",
      "192.0.0.255", "192.0.2.0", "192.0.2.255", "192.88.99.0", "192.88.99.255", "192.168.0.0", "192.168.255.255",
      "198.18.0.0", "198.19.255.255", "198.51.100.0", "198.51.100.255", "203.0.113.0", "203.0.113.255", "224.0.0.0",
      "239.255.255.255", "240.0.0.0", "255.255.255.255",
      // IPv4 in IPv6: mapped, compatible, translated (RFC 6052, RFC 8215), 6to4, Teredo.
      "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254", "::127.0.0.1", "::10.0.0.1", "64:ff9b::7f00:1",
      "64:ff9b::808:808", "64:ff9b:1::1", "2002:7f00:1::1", "2002:808:808::1", "2001::1", "2001:0:7f00:1::",
      // Unspecified, loopback, discard, documentation, benchmark, ORCHID, unique local, link-local, site-local, multicast, unassigned.
      "::", "::1", "100::", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "3fff::1", "2001:2::1",
      "2001:20::1",
      "2001:1ff:ffff::", "fc00::", "fdff:ffff::1", "fe80::1", "febf::1", "fec0::1", "ff02::1", "ffff::", "4000::",
      "1fff::1",
      "5f00::1",
    ])
  func refused(text: String) throws {
    let address = try #require(IPAddress(text))
    #expect(!PublicAddresses.contains(address))
  }

  @Test(
    "their neighbours are accepted, and so are the servers of browsers",
    arguments: [
      "1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
      "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "191.255.255.255", "192.0.1.0", "192.0.3.0",
      "192.88.98.255", "192.88.100.0", "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0",
      "198.51.99.255",
      "198.51.101.0", "203.0.112.255", "203.0.114.0", "223.255.255.255", "::ffff:8.8.8.8", "2000::1", "2001:200::1",
      "2001:4860:4860::8888", "2001:db7:ffff::1", "2001:db9::", "2003::1", "2606:4700::1111", "2a00:1450:4001::5f",
      "3ffe::1", "3fff:1000::1",
    ])
  func accepted(text: String) throws {
    let address = try #require(IPAddress(text))
    #expect(PublicAddresses.contains(address))
  }
}
