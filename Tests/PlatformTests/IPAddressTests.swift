import Platform
import Testing

@Suite("IP addresses")
struct IPAddressTests {
  @Test(
    "an address is parsed and formatted in canonical form",
    arguments: [
      ("127.0.0.1", "127.0.0.1"), ("::ffff:192.0.2.7", "192.0.2.7"), ("2001:DB8:0::1", "2001:db8::1"), ("::", "::"),
    ])
  func canonicalForm(text: String, canonical: String) throws {
    #expect(IPAddress(text)?.description == canonical)
  }

  @Test(
    "other texts are rejected",
    arguments: ["", "localhost", "127.1", "1.2.3.4.5", "1.2.3.4:80", "[::1]", "::1%lo", "1.2.3.4\0", " ::1"])
  func otherTexts(text: String) { #expect(IPAddress(text) == nil) }

  @Test(
    "the host of a URL may be an IPv4 address in an old spelling",
    arguments: [
      ("2130706433", "127.0.0.1"), ("0177.0.0.1", "127.0.0.1"), ("0x7F.1", "127.0.0.1"), ("127.1", "127.0.0.1"),
      ("10.258", "10.0.1.2"), ("192.0.2.7", "192.0.2.7"), ("2001:DB8::1", "2001:db8::1"),
    ])
  func oldSpellings(host: String, canonical: String) { #expect(IPAddress(host: host)?.description == canonical) }

  @Test(
    "what is no address in any spelling is none as a host",
    arguments: [
      "", " 127.1", "127.1 x", "127.1.", "4294967296", "1.2.3.256", "1.2.3.4.5", "08.1", "a.example", "[::1]",
    ])
  func otherHosts(host: String) { #expect(IPAddress(host: host) == nil) }

  @Test("loopback addresses are recognized")
  func loopback() {
    for text in ["127.0.0.1", "127.9.9.9", "::1", "::ffff:127.0.0.1"] { #expect(IPAddress(text)?.isLoopback == true) }
    for text in ["128.0.0.1", "::2", "0.0.0.0", "::"] { #expect(IPAddress(text)?.isLoopback == false) }
  }

  @Test("a site is an IPv4 address or the first 64 bits of an IPv6 address")
  func site() {
    #expect(IPAddress("192.0.2.7")?.site == IPAddress("192.0.2.7"))
    #expect(IPAddress("2001:db8:1:2:3:4:5:6")?.site == IPAddress("2001:db8:1:2::"))
  }

  @Test(
    "a range contains the addresses with its prefix",
    arguments: [
      ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("192.0.2.7", "192.0.2.7", true),
      ("192.0.2.7", "192.0.2.8", false), ("0.0.0.0/0", "1.2.3.4", true), ("0.0.0.0/0", "2001:db8::1", false),
      ("::/0", "2001:db8::1", true), ("2001:db8::/33", "2001:db8:7fff::1", true),
      ("2001:db8::/33", "2001:db8:8000::1", false), ("2001:db8::/65", "2001:db8::1", true),
      ("2001:db8::/65", "2001:db8::8000:0:0:0", false),
    ])
  func ranges(range: String, address: String, isContained: Bool) throws {
    #expect(try #require(AddressRange(range)).contains(try #require(IPAddress(address))) == isContained)
  }

  @Test(
    "invalid ranges are rejected",
    arguments: ["", "/8", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/+8", "x/8", "10.0.0.0/8/8"])
  func invalidRanges(text: String) { #expect(AddressRange(text) == nil) }
}
