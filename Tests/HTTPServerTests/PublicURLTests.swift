import Testing

@testable import HTTPServer

@Suite("The URL at which clients reach the service")
struct PublicURLTests {
  @Test(
    "it has an origin, and what a proxy removes",
    arguments: [
      ("https://app.example.org", "https://app.example.org", ""),
      ("http://127.0.0.1:8080/", "http://127.0.0.1:8080", ""),
      ("https://app.example.org/api", "https://app.example.org", "/api"),
      ("https://[::1]:8443/a/b/", "https://[::1]:8443", "/a/b"),
    ])
  func parts(text: String, origin: String, prefix: String) throws {
    let url = try #require(PublicURL(text))
    #expect(url.origin == origin && url.prefix == prefix && "\(url)" == origin + prefix)
  }

  @Test(
    "another text is none",
    arguments: [
      "", "app.example.org", "ftp://app.example.org", "https://", "https:///api", "https://ada:secret@app.example.org",
      "https://a/b?c=d",
      "https://a/b#c", "https://a/../b", "https://a/./b", "https://a b", "https://a/\u{E9}", "https://a/<b>",
    ])
  func others(text: String) { #expect(PublicURL(text) == nil) }
}
