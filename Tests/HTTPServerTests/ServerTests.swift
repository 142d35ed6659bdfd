import HTTPServer
import HTTPTesting
import Platform
import Telemetry
import Testing

@Suite(.tags(.network), .timeLimit(.minutes(60)))
struct ServerTests {
  static let routes = [
    Route("GET", "/hello/{name}", admission: Route.open) { request in
      Response(.ok, headers: ["Content-Type": "text/plain"], body: .bytes(Array(request.parameter("name").utf8)))
    },
    Route("POST", "/count", bodyLimit: 64 << 20, admission: Route.open) { request in
      var count = 0
      for try await chunk in request.body { count += chunk.count }
      return Response(.ok, body: .bytes(Array("\(count)".utf8)))
    },
    Route("POST", "/refuse", bodyLimit: 64 << 20, admission: Route.open) { _ in
      throw Problem(
        .unprocessableContent, type: "urn:x", title: "X", detail: "no",
        members: [.init(name: "code", value: .string("x"))])
    },
    Route("POST", "/refuse-late", bodyLimit: 64 << 20, admission: Route.open) { request in
      var chunks = request.body.makeAsyncIterator()
      _ = try await chunks.next()
      throw Problem(.unprocessableContent, type: "urn:x", title: "X", detail: "no")
    },
    Route("POST", "/small", bodyLimit: 10, admission: Route.open) { request in
      Response(.ok, body: .bytes(try await request.body.collect(upTo: 10)))
    },
    Route("GET", "/fails", admission: Route.open) { _ in
      throw ServerError.cannotStart(SystemError(call: "epoll_create1", code: 24))
    },
  ]

  static let router = Router(routes: routes)

  @Test("a handler gets decoded path parameters")
  func parameters() async throws {
    try await withServer(router: Self.router) { server in
      let response = try await request("GET", "/hello/caf%C3%A9%2Fbar?x=1", port: server.port)
      #expect(response.status == 200)
      #expect(response.text == "café/bar")
      #expect(response.headers["content-type"] == "text/plain")
    }
  }

  @Test("HEAD uses the handler of GET")
  func head() async throws {
    try await withServer(router: Self.router) { server in
      let response = try await request("HEAD", "/hello/you", port: server.port)
      #expect(response.status == 200)
      #expect(response.headers["content-length"] == "3")
    }
  }

  @Test("an unknown path is 404, an unsupported method 405")
  func unknownPathOrMethod() async throws {
    try await withServer(router: Self.router) { server in
      let missing = try await request("GET", "/nowhere", port: server.port)
      #expect(missing.status == 404)
      #expect(missing.headers["content-type"] == "application/problem+json")
      let wrong = try await request("DELETE", "/hello/you", port: server.port)
      #expect(wrong.status == 405)
      #expect(wrong.headers["allow"] == "GET, HEAD")
    }
  }

  @Test("a connection carries several requests, also refused ones")
  func persistentConnection() async throws {
    try await withServer(router: Self.router) { server in
      let port = server.port
      let statuses = try await onThread("client") {
        var connection = try ClientConnection(port: port)
        return try ["/hello/a", "/nowhere", "/fails", "/hello/b"].map { path in
          try connection.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\r\n")
          return try connection.receive().status
        }
      }
      #expect(statuses == [200, 404, 500, 200])
    }
  }

  @Test("a valid request id is returned, an invalid one replaced")
  func requestID() async throws {
    try await withServer(router: Self.router) { server in
      let valid = try await request("GET", "/hello/a", port: server.port, headers: [("X-Request-Id", "abc-1.2_3")])
      #expect(valid.headers["x-request-id"] == "abc-1.2_3")
      let invalid = try await request("GET", "/hello/a", port: server.port, headers: [("X-Request-Id", "a b\"c")])
      #expect(invalid.headers["x-request-id"]?.count == 32)
    }
  }

  @Test("bodies with Content-Length and in chunks are received")
  func bodies() async throws {
    try await withServer(router: Self.router) { server in
      let body = [UInt8](repeating: 7, count: 3_000_000)
      #expect(try await request("POST", "/count", port: server.port, body: body).text == "3000000")
      #expect(try await request("POST", "/count", port: server.port, body: []).text == "0")
      let chunked = try await HTTPTesting.exchange(
        "POST /count HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n3\r\nyou\r\n0\r\n\r\n",
        port: server.port)
      #expect(chunked.text == "8")
    }
  }

  @Test("100 Continue is sent when the handler reads the body")
  func expectContinue() async throws {
    try await withServer(router: Self.router) { server in
      let port = server.port
      let (interim, refused) = try await onThread("client") {
        let head = "HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
        var reading = try ClientConnection(port: port)
        try reading.send("POST /count " + head)
        let interim = try reading.receiveHead()
        try reading.send("hello")
        let response = try reading.receive()
        #expect(response.text == "5")
        var refusing = try ClientConnection(port: port)
        try refusing.send("POST /refuse " + head)
        return (interim, try refusing.receive())
      }
      #expect(interim == "HTTP/1.1 100 Continue")
      #expect(refused.status == 422)
      #expect(refused.text.contains(#""code":"x""#))
    }
  }

  @Test("a Content-Length over the limit is refused before the body")
  func longContentLength() async throws {
    try await withServer(router: Self.router) { server in
      let response = try await HTTPTesting.exchange(
        "POST /small HTTP/1.1\r\nHost: x\r\nContent-Length: 11\r\n\r\n", port: server.port)
      #expect(response.status == 413)
      #expect(response.headers["connection"]?.lowercased() == "close")
    }
  }

  @Test("a chunked body over the limit is refused")
  func longChunkedBody() async throws {
    try await withServer(router: Self.router) { server in
      let response = try await HTTPTesting.exchange(
        "POST /small HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nb\r\nhello world\r\n0\r\n\r\n",
        port: server.port)
      #expect(response.status == 413)
    }
  }

  @Test("a client that continues to send receives the early response", arguments: ["/refuse", "/refuse-late"])
  func earlyResponse(path: String) async throws {
    try await withServer(router: Self.router) { server in
      let body = [UInt8](repeating: 1, count: 8_000_000)
      let response = try await request("POST", path, port: server.port, body: body)
      #expect(response.status == 422)
    }
  }
}

extension Tag {
  /// Uses a server and sockets.
  @Tag static var network: Self
}
