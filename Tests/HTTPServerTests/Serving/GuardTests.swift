import HTTPServer
import HTTPTesting
import Platform
import Testing

/// What a client with bad intentions or a broken network does.
@Suite(.tags(.network), .timeLimit(.minutes(10)))
struct GuardTests {
  static let router = Router(routes: [
    Route("POST", "/count", bodyLimit: 1 << 20) { request in
      var count = 0
      for try await chunk in request.body { count += chunk.count }
      return Response(.ok, body: .bytes(Array("\(count)".utf8)))
    }
  ])

  @Test(arguments: ["/%zz", "/%ff", "/%00", "*", "//%2"])
  func refusesTargetsThatAreNoPath(target: String) async throws {
    try await withServer(router: Self.router) { server in
      let response = try await request("GET", target, port: server.port)
      #expect(response.status == 400 || response.status == 404)
    }
  }

  @Test func refusesARequestLineThatIsTooLong() async throws {
    try await withServer(router: Self.router) { server in
      let response = try await HTTPTesting.exchange(
        "GET /\(String(repeating: "a", count: 200_000)) HTTP/1.1\r\nHost: x\r\n\r\n", port: server.port)
      #expect(response.status == 414)
    }
  }

  @Test func refusesAHeadThatIsTooLong() async throws {
    try await withServer(router: Self.router) { server in
      let response = try await HTTPTesting.exchange(
        "GET / HTTP/1.1\r\nHost: x\r\nX: \(String(repeating: "a", count: 200_000))\r\n\r\n", port: server.port)
      #expect(response.status == 431)
    }
  }

  @Test("A client that sends a byte now and then is cut at the deadline, head or body")
  func cutsDripFeeds() async throws {
    var configuration = ServerConfiguration()
    configuration.headDeadline = .milliseconds(200)
    configuration.requestDeadline = .milliseconds(200)
    try await withServer(configuration, router: Self.router) { server in
      let port = server.port
      let starts = [
        "POST /count HTTP/1.1\r\nX: ", "POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n",
      ]
      for start in starts {
        let rest = try await onThread("client") {
          var connection = try ClientConnection(port: port)
          try connection.send(start)
          // A byte now and then: no limit on silence is ever reached, nor any limit on length.
          while !connection.hears(within: 20) { try connection.send("x") }
          return connection.receiveRest()
        }
        #expect(String(decoding: rest, as: UTF8.self).hasPrefix("HTTP/1.1 408 "))
      }
    }
  }

  @Test func aHandlerHearsThatItsClientWentAway() async throws {
    let (failures, continuation) = AsyncStream.makeStream(of: BodyError.self)
    let router = Router(routes: [
      Route("POST", "/upload", bodyLimit: 1 << 20) { request in
        do throws(BodyError) {
          var chunks = request.body.makeAsyncIterator()
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
        // Now the handler is reading.
        _ = try connection.receiveHead()
        try connection.send("half")
        connection.reset()
      }
      let heard = await failures.reduce(into: []) { $0.append($1) }
      #expect(heard == [.disconnected])
    }
  }

  @Test("Who has finished sending still gets an answer")
  func halfClosed() async throws {
    let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
    let (left, leaving) = AsyncStream.makeStream(of: Void.self)
    let router = Router(routes: [
      Route("GET", "/hello") { _ in
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
      let answered = try await status
      #expect(answered == 200)
    }
  }

  @Test("A handler that only reads is cancelled once its client is gone, and nothing is answered")
  func abandoned() async throws {
    let (arrived, arrival) = AsyncStream.makeStream(of: Void.self)
    let (statuses, told) = AsyncStream.makeStream(of: Int.self)
    let router = Router(routes: [
      Route("GET", "/wait") { _ in
        arrival.yield()
        try await Task.sleep(for: .seconds(3600))
        return Response(.ok)
      }
    ])
    try await withServer(router: router, observer: ServerObserver(onAccess: { told.yield($0.status) })) { server in
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

  @Test("Stopping cancels handlers that wait for ever and returns")
  func stopsWithSuspendedConnections() async throws {
    let (arrived, continuation) = AsyncStream.makeStream(of: Void.self)
    let router = Router(routes: [
      Route("GET", "/wait") { _ in
        continuation.yield()
        try await Task.sleep(for: .seconds(3600))
        return Response(.ok)
      },
      Route("POST", "/wait", bodyLimit: 1 << 20) { request in
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
    // Its body never comes: it is cut, or answered, but it is not left waiting.
    _ = try? await uploading
    await #expect(throws: (any Error).self) { try await request("GET", "/wait", port: port) }
  }

  @Test func aServerThatNeverRanStopsWithItsOwner() async throws {
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
