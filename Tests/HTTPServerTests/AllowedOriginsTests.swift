import HTTPTesting
import Testing

@testable import HTTPServer

@Suite("Web pages of other origins", .tags(.network))
struct AllowedOriginsTests {
  private static let origin = ("Origin", "https://app.example.org")

  private static func with(
    _ origins: [String], _ body: (UInt16) async throws -> Void
  ) async throws {
    var configuration = ServerConfiguration()
    configuration.allowedOrigins = try AllowedOrigins(origins)
    let route = Route("GET", "/things", admission: Route.open) { _ in
      Response(.ok, headers: ["Vary": "Accept", "ETag": "\"1\""], body: .bytes(Array("thing".utf8)))
    }
    try await withServer(configuration, router: Router(routes: [route])) { try await body($0.port) }
  }

  @Test("a page of an allowed origin may read responses and problems, and other pages may not")
  func reading() async throws {
    try await Self.with(["https://app.example.org", "http://localhost:3000"]) { port in
      for path in ["/things", "/nothing"] {
        let allowed = try await request("GET", path, port: port, headers: [Self.origin])
        #expect(allowed.headers["access-control-allow-origin"] == "https://app.example.org", "\(path)")
        #expect(allowed.headers["access-control-expose-headers"]?.contains("Upload-Offset") == true)
        for other in [
          [], [("Origin", "https://example.org")], [("Origin", "https://app.example.org.evil.example")],
          [("Origin", "null")],
        ] {
          let response = try await request("GET", path, port: port, headers: other)
          #expect(response.headers["access-control-allow-origin"] == nil, "\(other)")
          // A cache must not return it to the page that may read.
          #expect(response.headers["vary"]?.hasSuffix("Origin") == true)
        }
      }
      #expect(try await request("GET", "/things", port: port).headers["vary"] == "Accept, Origin")
    }
  }

  @Test("a preflight of an allowed origin is answered without a route and a credential")
  func preflight() async throws {
    let asks = [
      ("Access-Control-Request-Method", "PATCH"),
      ("Access-Control-Request-Headers", "authorization, upload-offset, a b"),
    ]
    try await Self.with(["https://app.example.org"]) { port in
      let allowed = try await request("OPTIONS", "/things/1", port: port, headers: [Self.origin] + asks)
      #expect(allowed.status == 204 && allowed.headers["access-control-allow-origin"] == "https://app.example.org")
      #expect(allowed.headers["access-control-allow-methods"]?.contains("PATCH") == true)
      #expect(allowed.headers["access-control-allow-headers"] == "authorization, upload-offset")
      #expect(allowed.headers["access-control-max-age"] == "7200")
      let other = try await request(
        "OPTIONS", "/things/1", port: port, headers: [("Origin", "https://a.example")] + asks)
      #expect(other.status == 404 && other.headers["access-control-allow-methods"] == nil)
      // Without the question it is a request like others.
      #expect(try await request("OPTIONS", "/things", port: port, headers: [Self.origin]).status == 405)
    }
  }

  @Test("without allowed origins nothing changes, and with * every page may read")
  func extremes() async throws {
    try await Self.with([]) { port in
      let response = try await request("GET", "/things", port: port, headers: [Self.origin])
      #expect(response.headers["access-control-allow-origin"] == nil && response.headers["vary"] == "Accept")
    }
    try await Self.with(["*"]) { port in
      let response = try await request("GET", "/things", port: port, headers: [("Origin", "null")])
      #expect(response.headers["access-control-allow-origin"] == "*" && response.headers["vary"] == "Accept")
    }
  }

  @Test(
    "what a browser never sends as an origin is refused",
    arguments: [
      "app.example.org", "https://", "https://App.example.org", "https://app.example.org/",
      "https://app.example.org:443",
      "http://app.example.org:80", "ftp://app.example.org", "null", "https://a b", "",
    ])
  func invalid(text: String) {
    #expect(throws: AllowedOrigins.InvalidOrigin(text: text)) { try AllowedOrigins([text]) }
  }

  @Test(
    "origins with ports and addresses are accepted",
    arguments: ["http://localhost:3000", "https://[::1]:8443", "https://192.0.2.1"])
  func valid(text: String) throws {
    #expect(try AllowedOrigins([text]).allow(text))
  }
}
