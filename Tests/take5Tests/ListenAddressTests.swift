import Testing

@testable import take5

@Suite("Addresses to listen on")
struct ListenAddressTests {
  @Test(
    "loopback is told from what others can reach",
    arguments: [
      ("127.0.0.1:8080", true), ("localhost:1", true), ("[::1]:80", true), (":8080", true), ("127.9.9.9:1", true),
      ("0.0.0.0:8080", false), ("[::]:80", false), ("192.168.1.2:80", false), ("127.example.com:80", false),
      ("example.com:80", false),
    ])
  func loopback(text: String, isLoopback: Bool) throws {
    #expect(try #require(ListenAddress(text)).isLoopback == isLoopback)
  }

  @Test("anything else is refused", arguments: ["", "8080", "host", "host:", "host:port", "host:70000"])
  func refuses(text: String) {
    #expect(ListenAddress(text) == nil)
  }

  @Test("it is written as a URL")
  func url() throws {
    #expect(try #require(ListenAddress("[::1]:0")).url(port: 5) == "http://[::1]:5")
  }
}
