import HTTPClient
import Testing

@Suite("Addresses of a service")
struct ServerAddressTests {
  @Test(
    "host and port are read",
    arguments: [
      ("http://127.0.0.1:8080", "127.0.0.1", 8080), ("http://take5.local/", "take5.local", 80),
      ("http://[::1]:9000", "::1", 9000),
    ] as [(String, String, UInt16)])
  func reads(url: String, host: String, port: UInt16) {
    #expect(ServerAddress(url: url) == ServerAddress(host: host, port: port))
  }

  @Test(
    "anything else is refused",
    arguments: [
      "", "127.0.0.1:8080", "https://a", "http://", "http://a:b", "http://a/b", "http://u@a", "http://a:99999",
    ])
  func refuses(url: String) {
    #expect(ServerAddress(url: url) == nil)
  }
}
