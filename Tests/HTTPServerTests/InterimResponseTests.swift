import HTTPServer
import HTTPTesting
import Platform
import Testing
import WaitTesting

@Suite("Interim responses and common header fields", .tags(.network), .timeLimit(.minutes(60)))
struct InterimResponseTests {
  /// `/interim` sends an interim response before it reads the body.
  private static let router = Router(
    routes: [
      Route("POST", "/interim", bodyLimit: 10, admission: Route.open) { request in
        request.sendInterim(.uploadResumptionSupported, ["X": "1"])
        let body = try await request.body.collect(upTo: 10)
        request.sendInterim(.uploadResumptionSupported, ["X": "2"])
        return Response(.ok, headers: ["Y": "own"], body: .bytes(body))
      }
    ],
    commonFields: { head in ["Y": "common", "Z": head.method] })

  private static func heads(_ head: String, _ port: UInt16) async throws -> [ClientResponse] {
    try await onThread("client") {
      var connection = try ClientConnection(port: port)
      try connection.send("POST /interim \(head)\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc")
      var heads: [ClientResponse] = []
      let deadline = Deadline("the last response")
      repeat {
        try deadline.check()
        heads.append(try ClientResponse(head: try connection.receiveHead()))
      } while heads.last!.status < 200
      return heads
    }
  }

  @Test("interim responses come before the response, in their order, and not to a client of HTTP/1.0")
  func order() async throws {
    try await withServer(router: Self.router) { server in
      let heads = try await Self.heads("HTTP/1.1", server.port)
      #expect(heads.map(\.status) == [104, 104, 200] && heads.map { $0.headers["x"] } == ["1", "2", nil])
      // An interim response has no content, and no field of the server.
      for head in heads.prefix(2) { #expect(head.headers.count == 1) }
      #expect(try await Self.heads("HTTP/1.0", server.port).map(\.status) == [200])
    }
  }

  @Test("an interim response that the handler sends first precedes 100, which is sent all the same")
  func beforeContinue() async throws {
    try await withServer(router: Self.router) { server in
      let port = server.port
      let statuses = try await onThread("client") {
        var connection = try ClientConnection(port: port)
        try connection.send(
          "POST /interim HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n")
        let first = [try connection.receiveHead(), try connection.receiveHead()]
        try connection.send("abc")
        return try (first + [try connection.receiveHead(), try connection.receiveHead()]).map {
          try ClientResponse(head: $0).status
        }
      }
      #expect(statuses == [104, 100, 104, 200])
    }
  }

  @Test("every response has the common fields, also of what no handler sees, and its own replace them")
  func commonFields() async throws {
    var configuration = ServerConfiguration()
    configuration.allowedOrigins = try AllowedOrigins(["*"])
    try await withServer(configuration, router: Self.router) { server in
      let preflight = [("Origin", "https://x"), ("Access-Control-Request-Method", "POST")]
      for (method, path, headers, body, status) in [
        ("POST", "/interim", [], "abc", 200), ("PUT", "/interim", [], nil, 405), ("GET", "/other", [], nil, 404),
        ("POST", "/interim", [], "longer than 10", 413), ("OPTIONS", "/interim", preflight, nil, 204),
      ] as [(String, String, [(String, String)], String?, Int)] {
        let response = try await request(
          method, path, port: server.port, headers: headers, body: body.map { Array($0.utf8) })
        #expect(response.status == status && response.headers["z"] == method)
        #expect(response.headers["y"] == (status == 200 ? "own" : "common"))
      }
    }
  }
}
