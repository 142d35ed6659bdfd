import HTTPClient
import Testing

@Suite("ServerAddress")
struct ServerAddressTests {
  @Test(
    "the scheme, host and port of a URL are parsed",
    arguments: [
      ("http://127.0.0.1:8080", .http, "127.0.0.1", 8080), ("http://take5.local/", .http, "take5.local", 80),
      ("http://[::1]:9000", .http, "::1", 9000), ("https://take5.example", .https, "take5.example", 443),
      ("HTTPS://[::1]:8443/", .https, "::1", 8443),
    ] as [(String, ServerAddress.Scheme, String, UInt16)])
  func reads(url: String, scheme: ServerAddress.Scheme, host: String, port: UInt16) {
    #expect(ServerAddress(url: url) == ServerAddress(scheme: scheme, host: host, port: port))
  }

  @Test(
    "other URLs are refused",
    arguments: [
      "", "127.0.0.1:8080", "ftp://a", "http://", "https://", "http://a:b", "http://a/b", "http://u@a",
      "http://a:99999", "https://a?b", "https://a b",
    ])
  func refuses(url: String) {
    #expect(ServerAddress(url: url) == nil)
  }
}
