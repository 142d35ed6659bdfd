import HTTPServer
import HTTPTesting
import Platform
import Telemetry
import Testing
import WaitTesting

@Suite(.tags(.network), .timeLimit(.minutes(60)))
struct ServerTests {
  private static let diskProblem = Problem(
    .serviceUnavailable, type: "urn:x", title: "X", detail: "The disk hangs.")

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

  @Test("a handler that waits for the disk delays no other request")
  func waitsForDisk() async throws {
    let isOnDisk = try Event()
    let (started, isStarted) = AsyncStream.makeStream(of: Void.self)
    let slow = Route("GET", "/slow", diskProblem: Self.diskProblem, admission: Route.open) { _ in
      isStarted.finish()
      isOnDisk.wait()
      return Response(.ok)
    }
    var configuration = ServerConfiguration()
    (configuration.handlerThreads, configuration.diskThreads) = (1, 1)
    try await withServer(configuration, router: Router(routes: Self.routes + [slow])) { server in
      let port = server.port
      async let late = request("GET", "/slow", port: port)
      // Also if the test fails before: the server waits for its handlers.
      defer { isOnDisk.signal() }
      for await _ in started {}
      let other = try await request("GET", "/hello/you", port: port)
      isOnDisk.signal()
      #expect(other.status == 200)
      #expect(try await late.status == 200)
    }
  }

  @Test("a handler whose disk hangs is answered for, its client goes on, and so does each thread once the disk answers")
  func hangingDisk() async throws {
    let isOnDisk = try Event()
    let ended = Channel<Bool>(capacity: 64)
    let hanging = Route("POST", "/hanging", bodyLimit: 10, diskProblem: Self.diskProblem, admission: Route.open) {
      request in
      isOnDisk.wait()
      // What was refused goes no further.
      _ = ended.put(Task.isCancelled)
      return Response(.ok)
    }
    let quick = Route("GET", "/quick", diskProblem: Self.diskProblem, admission: Route.open) { _ in Response(.ok) }
    var configuration = ServerConfiguration()
    (configuration.handlerThreads, configuration.diskThreads, configuration.diskTime) = (1, 1, .zero)
    try await withServer(configuration, router: Router(routes: [hanging, quick])) { server in
      defer { isOnDisk.signal() }
      let port = server.port
      for _ in 0..<3 {
        #expect(try await request("POST", "/hanging", port: port, body: [1]).status == 503)
        // A quick request that is running as the server looks for stuck ones is taken for one: it has no time at all here.
        try await until { try await request("GET", "/quick", port: port).status == 200 }
      }
      // Until no thread is left for further requests.
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<20 {
          group.addTask { try await request("POST", "/hanging", port: port, body: [1]).status }
        }
        for try await status in group { #expect(status == 503) }
      }
      #expect(try await request("GET", "/quick", port: port).status == 503)
      isOnDisk.signal()
      try await until { try await request("GET", "/quick", port: port).status != 503 }
      for _ in 0..<18 { #expect(try await onThread("test") { ended.take() } == true) }
      try await until { try await request("GET", "/quick", port: port).status == 200 }
    }
  }

  @Test("after a commit neither an error nor a disk that hangs reaches the client")
  func committed() async throws {
    let isOnDisk = try Event()
    let isLate = try Event()
    func route(_ path: String, _ rest: @escaping @Sendable () throws -> Response) -> Route {
      Route("POST", path, bodyLimit: 10, diskProblem: Self.diskProblem, admission: Route.open) { request in
        request.commit(Response(.accepted))
        return try rest()
      }
    }
    let routes = [
      route("/throws") { throw SystemError(call: "rename", code: 2) },
      route("/refuses") { throw Self.diskProblem },
      route("/cancelled") { throw CancellationError() },
      route("/responds") { Response(.created) },
      route("/hangs") {
        isOnDisk.wait()
        return Response(.created)
      },
      route("/late") {
        isLate.wait()
        return Response(.created)
      },
    ]
    var configuration = ServerConfiguration()
    // Not less: a request that only waits for its turn before it commits would be taken for one that hangs.
    configuration.diskTime = .seconds(2)
    try await withServer(configuration, router: Router(routes: routes)) { server in
      defer { isOnDisk.signal() }
      for (path, status) in [("/hangs", 202), ("/throws", 202), ("/refuses", 202), ("/cancelled", 202)] {
        let response = try await request("POST", path, port: server.port, body: [1])
        #expect(response.status == status, "\(path)")
      }
    }
    configuration.diskTime = .seconds(60)
    try await withServer(configuration, router: Router(routes: routes)) { server in
      let response = try await request("POST", "/responds", port: server.port, body: [1])
      #expect(response.status == 201)
    }
    // Its time is over after it has committed and before it has responded.
    configuration.requestTimeout = .seconds(5)
    try await withServer(configuration, router: Router(routes: routes)) { server in
      defer { isLate.signal() }
      let response = try await request("POST", "/late", port: server.port, body: [1])
      #expect(response.status == 202)
    }
  }

  @Test("a server that has ended keeps nothing of its routes, whether their handlers may wait for a disk or not")
  func ended() async throws {
    final class Kept: Sendable {
      let ended = OneShot<Void>()

      deinit { ended.fulfil(()) }
    }
    func serve(_ kept: Kept) async throws -> OneShot<Void> {
      let routes = [("/disk", Self.diskProblem), ("/path", nil)].map { path, problem in
        Route("GET", path, diskProblem: problem, admission: Route.open) { _ in
          withExtendedLifetime(kept) { Response(.ok) }
        }
      }
      try await withServer(router: Router(routes: routes)) { server in
        for path in ["/path", "/disk"] {
          let response = try await request("GET", path, port: server.port)
          #expect(response.status == 200)
        }
      }
      return kept.ended
    }
    // The threads end after the server.
    try await serve(Kept()).value
  }

  @Test("other requests wait for what a handler does, unless it may wait for a disk", arguments: [false, true])
  func criticalSection(waitsForDisk: Bool) async throws {
    let route = Route("GET", "/path", diskProblem: waitsForDisk ? Self.diskProblem : nil, admission: Route.open) { _ in
      let isEnteredAtOnce = CriticalSection.isEntered
      await Task.yield()
      return Response(isEnteredAtOnce && CriticalSection.isEntered ? .ok : .noContent)
    }
    try await withServer(router: Router(routes: [route])) { server in
      let response = try await request("GET", "/path", port: server.port)
      #expect(response.status == (waitsForDisk ? 204 : 200))
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

  @Test("a valid request id is returned, an invalid one replaced")
  func requestID() async throws {
    try await withServer(router: Self.router) { server in
      let valid = try await request("GET", "/hello/a", port: server.port, headers: [("X-Request-Id", "abc-1.2_3")])
      #expect(valid.headers["x-request-id"] == "abc-1.2_3")
      let invalid = try await request("GET", "/hello/a", port: server.port, headers: [("X-Request-Id", "a b\"c")])
      #expect(invalid.headers["x-request-id"]?.count == 32)
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

  @Test("an error of a handler is reported, but not sent to the client")
  func handlerError() async throws {
    let (failures, continuation) = AsyncStream.makeStream(of: String.self)
    let observer = ServerObserver(onFailure: { error, request in
      continuation.yield("\(request.method) \(request.target.path): \(error)")
      continuation.finish()
    })
    try await withServer(router: Self.router, observer: observer) { server in
      let response = try await request("GET", "/fails", port: server.port)
      #expect(response.status == 500)
      #expect(!response.text.contains("descriptors"))
    }
    let reported = await failures.reduce(into: []) { $0.append($1) }
    #expect(reported == ["GET /fails: \(ServerError.cannotStart(SystemError(call: "epoll_create1", code: 24)))"])
  }

  @Test("the access log has each request without its query")
  func accessLog() async throws {
    let (records, continuation) = AsyncStream.makeStream(of: AccessRecord.self)
    let observer = ServerObserver(onAccess: { continuation.yield($0) })
    try await withServer(router: Self.router, observer: observer) { server in
      _ = try await request("GET", "/hello/you?token=secret", port: server.port, headers: [("X-Request-Id", "r1")])
    }
    continuation.finish()
    let all = await records.reduce(into: []) { $0.append($1) }
    #expect(all.count == 1)
    #expect(all.first?.path == "/hello/you")
    #expect(all.first?.status == 200)
    #expect(all.first?.bytes == 3)
    #expect(all.first?.requestID.description == "r1")
    #expect(all.first?.isComplete == true)
  }

  @Test("the handler and the access log see the span of the request, and what the handler does belongs to it")
  func traces() async throws {
    let context = TraceContext(ratio: 1)
    let seen = Locked<[TraceContext?]>([])
    let record: @Sendable (AccessRecord) -> Void = { record in seen.withLock { $0.append(record.trace) } }
    let router = Router(
      routes: [
        Route("GET", "/traced", admission: Route.open) { request in
          seen.withLock { $0 += [request.trace, TraceScope.current?.context] }
          return Response(.ok)
        }
      ], fallbackAdmission: Route.open)
    let observer = ServerObserver(onAccess: record, trace: { $0.headers["X-Traced"].map { _ in context } })
    try await withServer(router: router, observer: observer) { server in
      _ = try await request("GET", "/traced", port: server.port, headers: [("X-Traced", "1")])
      _ = try await request("GET", "/traced", port: server.port)
    }
    #expect(seen.withLock { $0 } == [context, context, context, nil, nil, nil])
  }

  @Test("the admission refuses requests with and without a route")
  func admission() async throws {
    let router = Router(
      routes: [
        Route("GET", "/open", admission: Route.open) { _ in Response(.ok) },
        Route("POST", "/closed", bodyLimit: 10, admission: Self.refuse) { _ in Response(.ok) },
      ], fallbackAdmission: Self.refuse)
    try await withServer(router: router) { server in
      #expect(try await request("GET", "/open", port: server.port).status == 200)
      for (method, path) in [("POST", "/closed"), ("GET", "/closed"), ("GET", "/nowhere"), ("POST", "/open")] {
        let refused = try await request(method, path, port: server.port)
        #expect(refused.status == 401)
        #expect(refused.headers["www-authenticate"] == "Bearer")
      }
    }
  }

  @Test("an admission that waits runs before the handler, and before a path without a route is reported")
  func pending() async throws {
    let admission: Route.Admission = { (head, _) throws(Problem) in
      let name = head.headers["Authorization"] ?? ""
      return .pending {
        guard name != "stranger" else { throw Problem(.unauthorized, type: "urn:x", title: "X", detail: "no") }
        return Named(name: name)
      }
    }
    let router = Router(
      routes: [
        Route("POST", "/name", bodyLimit: 10, admission: admission) { request in
          Response(.ok, body: .bytes(Array((request.principal as? Named)?.name.utf8 ?? "".utf8)))
        }
      ], fallbackAdmission: admission)
    try await withServer(router: router) { server in
      func send(_ method: String, _ path: String, _ name: String) async throws -> ClientResponse {
        try await request(
          method, path, port: server.port, headers: [("Authorization", name)], body: Array("0123456789".utf8))
      }
      let named = try await send("POST", "/name", "ada")
      #expect(named.status == 200 && named.text == "ada")
      #expect(try await send("GET", "/name", "ada").status == 405)
      #expect(try await send("POST", "/nowhere", "ada").status == 404)
      for (method, path) in [("POST", "/name"), ("GET", "/name"), ("POST", "/nowhere")] {
        #expect(try await send(method, path, "stranger").status == 401)
      }
    }
  }

  private struct Named: Principal {
    let name: String
    var shareHolder: ShareHolder? { .user(Array(name.utf8)) }
  }

  private static let refuse: Route.Admission = { (_, _) throws(Problem) in
    throw Problem(
      .unauthorized, type: "urn:x", title: "X", detail: "no", headers: ["WWW-Authenticate": "Bearer"])
  }
}

extension Tag {
  /// Uses a server and sockets.
  @Tag static var network: Self
}
