import HTTPServer
import HTTPTesting
import Platform
import Testing
import WaitTesting

/// Tests of malicious clients and broken connections.
@Suite(.tags(.network), .timeLimit(.minutes(60)))
struct ClientFailureTests {
  static let router = Router(routes: [
    Route("POST", "/count", bodyLimit: 1 << 20, admission: Route.open) { request in
      var count = 0
      for try await chunk in request.body { count += chunk.count }
      return Response(.ok, body: .bytes(Array("\(count)".utf8)))
    }
  ])

  @Test("an invalid target is refused", arguments: ["/%zz", "/%ff", "/%00", "*", "//%2"])
  func invalidTarget(target: String) async throws {
    try await withServer(router: Self.router) { server in
      let response = try await request("GET", target, port: server.port)
      #expect(response.status == 400 || response.status == 404)
    }
  }

  @Test("a request line that is too long is refused with 414")
  func longRequestLine() async throws {
    try await withServer(router: Self.router) { server in
      let response = try await HTTPTesting.exchange(
        "GET /\(String(repeating: "a", count: 200_000)) HTTP/1.1\r\nHost: x\r\n\r\n", port: server.port)
      #expect(response.status == 414)
    }
  }

  @Test(
    "a head that is too long, or has too many fields, is refused with 431",
    arguments: ["X: \(String(repeating: "a", count: 200_000))\r\n", String(repeating: "X: a\r\n", count: 129)])
  func longHead(fields: String) async throws {
    try await withServer(router: Self.router) { server in
      let response = try await HTTPTesting.exchange("GET / HTTP/1.1\r\nHost: x\r\n\(fields)\r\n", port: server.port)
      #expect(response.status == 431)
    }
  }

  @Test("a client that sends single bytes is disconnected at the timeout of the head or the request")
  func slowClient() async throws {
    var configuration = ServerConfiguration()
    configuration.headTimeout = .milliseconds(200)
    configuration.requestTimeout = .milliseconds(200)
    try await withServer(configuration, router: Self.router) { server in
      let port = server.port
      let starts = [
        "POST /count HTTP/1.1\r\nX: ", "POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n",
      ]
      for start in starts {
        let rest = try await onThread("client") {
          var connection = try ClientConnection(port: port)
          try connection.send(start)
          // Single bytes reach neither the idle timeout nor a limit of length.
          let deadline = Deadline("a response")
          while !connection.isReadable(within: 20) {
            try deadline.check()
            try connection.send("x")
          }
          return connection.receiveRest()
        }
        #expect(String(decoding: rest, as: UTF8.self).hasPrefix("HTTP/1.1 408 "))
      }
    }
  }

  @Test("a handler that reads the body gets an error when its client disconnects")
  func disconnectWithinBody() async throws {
    let (failures, continuation) = AsyncStream.makeStream(of: BodyError.self)
    let router = Router(routes: [
      Route("POST", "/upload", bodyLimit: 1 << 20, admission: Route.open) { request in
        do throws(BodyError) {
          var chunks = request.body.makeAsyncIterator()
          // Ends: with the body, or by the timeouts of the server.
          while try await chunks.next() != nil {}
        } catch {
          continuation.yield(error)
          continuation.finish()
          throw error
        }
        return Response(.ok)
      }
    ])
    try await withServer(router: router) { server in
      let port = server.port
      try await onThread("client") {
        var connection = try ClientConnection(port: port)
        try connection.send(
          "POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n")
        // The handler is reading.
        _ = try connection.receiveHead()
        try connection.send("half")
        connection.reset()
      }
      let received = await failures.reduce(into: []) { $0.append($1) }
      #expect(received == [.disconnected])
    }
  }

  @Test("a client that has closed its sending side receives the response")
  func halfClosed() async throws {
    let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
    let (left, leaving) = AsyncStream.makeStream(of: Void.self)
    let router = Router(routes: [
      Route("GET", "/hello", admission: Route.open) { _ in
        arrival.yield()
        for await _ in left { break }
        return Response(.ok)
      }
    ])
    try await withServer(router: router) { server in
      let port = server.port
      async let status = onThread("client") {
        var connection = try ClientConnection(port: port)
        try connection.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
        connection.finishSending()
        leaving.yield()
        return try connection.receive().status
      }
      for await _ in arrived { break }
      let received = try await status
      #expect(received == 200)
    }
  }

  @Test("a handler gets everything that its client had sent before it reset the connection")
  func reset() async throws {
    let (ended, end) = AsyncStream.makeStream(of: Void.self)
    let (counts, count) = AsyncStream.makeStream(of: Int.self)
    // The last of it waits in the socket, because the handler reads nothing until the connection is gone.
    let sent = ServerConfiguration().bufferedBytes + 32 << 10
    let router = Router(routes: [
      Route("POST", "/upload", bodyLimit: 1 << 20, admission: Route.open) { request in
        var body = request.body.makeAsyncIterator()
        var received = try await body.next()?.count ?? 0
        for await _ in ended { break }
        // Ends: with the body, or by the timeouts of the server.
        while let chunk = try? await body.next() { received += chunk.count }
        count.yield(received)
        return Response(.ok)
      }
    ])
    try await withServer(router: router, observer: ServerObserver(onAccess: { _ in end.yield() })) { server in
      let port = server.port
      try await onThread("client") {
        let connection = try ClientConnection(port: port)
        try connection.send("POST /upload HTTP/1.1\r\nHost: x\r\nContent-Length: \(sent + 1)\r\n\r\n")
        try connection.send([UInt8](repeating: 1, count: sent))
        try connection.waitUntilReceived()
        connection.reset()
      }
      for await received in counts {
        #expect(received == sent)
        break
      }
    }
  }

  @Test("the handler of a safe request is cancelled when its client disconnects, and sends no response")
  func abandoned() async throws {
    let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
    let (statuses, continuation) = AsyncStream.makeStream(of: Int.self)
    let router = Router(routes: [
      Route("GET", "/wait", admission: Route.open) { _ in
        arrival.yield()
        try await Task.sleep(for: .seconds(3600))
        return Response(.ok)
      }
    ])
    try await withServer(router: router, observer: ServerObserver(onAccess: { continuation.yield($0.status) })) {
      server in
      let port = server.port
      let leave = try Event()
      async let client: Void = onThread("client") {
        let connection = try ClientConnection(port: port)
        try connection.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
        leave.wait()
      }
      for await _ in arrived { break }
      leave.signal()
      try await client
      for await status in statuses {
        #expect(status == 499)
        break
      }
    }
  }

  @Test("stop cancels handlers that do not end and returns")
  func stopsWithWaitingHandlers() async throws {
    let (arrived, continuation) = AsyncStream.makeStream(of: Void.self)
    let router = Router(routes: [
      Route("GET", "/wait", admission: Route.open) { _ in
        continuation.yield()
        try await Task.sleep(for: .seconds(3600))
        return Response(.ok)
      },
      Route("POST", "/wait", bodyLimit: 1 << 20, admission: Route.open) { request in
        continuation.yield()
        return Response(.ok, body: .bytes(try await request.body.collect(upTo: 1 << 20)))
      },
    ])
    let server = try Server(router: router)
    async let running: Void = server.run()
    let port = server.port
    async let waiting = request("GET", "/wait", port: port)
    async let uploading = HTTPTesting.exchange(
      "POST /wait HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf", port: port)
    var arrivals = arrived.makeAsyncIterator()
    await arrivals.next()
    await arrivals.next()
    await server.stop(within: .zero)
    await running
    #expect(try await waiting.status == 503)
    // The body never arrives: the connection is closed or gets a response, but it does not stay open.
    _ = try? await uploading
    await #expect(throws: (any Error).self) { try await request("GET", "/wait", port: port) }
  }

  @Test("a server stops before run() is called")
  func stopsBeforeRun() async throws {
    let server = try Server(router: Self.router)
    let port = server.port
    let connection = try await onThread("client") {
      let connection = try ClientConnection(port: port)
      try connection.send("POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello")
      return true
    }
    #expect(connection)
    await server.stop(within: .zero)
    await server.run()
  }
}
