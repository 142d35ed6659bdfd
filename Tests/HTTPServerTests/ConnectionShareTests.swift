import Glibc
import HTTPServer
import HTTPTesting
import Platform
import Testing
import WaitTesting

/// The names of requests, as they were admitted.
private final class Order: Sendable {
  private let list = Locked<[String]>([])
  var names: [String] { list.withLock { $0 } }
  func add(_ name: String) { list.withLock { $0.append(name) } }
}

/// Tests of what one client may occupy.
@Suite("The connections and threads that one client can occupy", .tags(.network), .timeLimit(.minutes(60)))
struct ConnectionShareTests {
  /// A client whose header field `Authorization` is `key NAME` or `user NAME` has authenticated.
  private struct Named: Principal {
    let shareHolder: ShareHolder?

    init(_ head: RequestHead) {
      let words = (head.headers["Authorization"] ?? "").split(separator: " ").map(String.init)
      shareHolder = words.count < 2 ? nil : words[0] == "key" ? .key(words[1]) : .user(Array(words[1].utf8))
    }
  }

  private static let known: Route.Admission = { (head, _) throws(Problem) in .known(Named(head)) }
  private static let pending: Route.Admission = { (head, _) throws(Problem) in .pending { Named(head) } }

  /// `/wait` responds with a stream that does not end, `/count` with the length of the body, `/hello` immediately.
  private static func router(_ admission: @escaping Route.Admission = known) -> Router {
    Router(routes: [
      Route("GET", "/wait", admission: admission) { _ in Response(.ok, body: .stream(BodyStream())) },
      Route("POST", "/count", bodyLimit: 1 << 20, admission: admission) { request in
        Response(.ok, body: .bytes(Array("\(try await request.body.collect(upTo: 1 << 20).count)".utf8)))
      },
      Route("GET", "/hello", admission: admission) { _ in Response(.ok) },
    ])
  }

  private static var configuration: ServerConfiguration {
    var configuration = ServerConfiguration()
    configuration.networkThreads = 1
    return configuration
  }

  @Test(
    "a user and a key have a number of concurrent requests, from all addresses, and others are served",
    arguments: ["user ada", "key 7"], [false, true])
  func credentials(name: String, isPending: Bool) async throws {
    var configuration = Self.configuration
    (configuration.maxPerUser, configuration.maxPerKey) = (2, 2)
    let (refusals, continuation) = AsyncStream.makeStream(of: String.self)
    let observer = ServerObserver(onRefusal: { continuation.yield("\($0.rawValue): \($1)") })
    let router = Self.router(isPending ? Self.pending : Self.known)
    try await withServer(configuration, router: router, observer: observer) { server in
      let port = server.port
      try await onThread("client") {
        var streams = try (1...2).map { try Client("/wait", port, from: "127.0.0.\($0)", as: name) }
        for stream in streams { #expect(try stream.connection.receiveHead().hasPrefix("HTTP/1.1 200")) }
        let refused = try Client("/hello", port, from: "127.0.0.3", as: name).connection.receive()
        #expect(refused.status == 429)
        #expect(refused.headers["retry-after"] == "1")
        for other in ["user bob", "key 8", nil] { #expect(try Client("/hello", port, as: other).status() == 200) }
        streams.removeLast()
        // The server notices that the client has left.
        let deadline = Deadline("the server notices that the client has left")
        while try Client("/hello", port, as: name).status() != 200 { try deadline.check() }
      }
    }
    continuation.finish()
    let first = await refusals.first { _ in true }
    #expect(first == "\(name.prefix { $0 != " " }): \(name)")
  }

  @Test("an idle connection counts for its address, although its client has authenticated")
  func idle() async throws {
    var configuration = Self.configuration
    configuration.maxPerAddress = 3
    try await withServer(configuration, router: Self.router()) { server in
      let port = server.port
      let load = try await onThread("client") {
        var clients = try (0..<10).map { _ in
          let client = try Client("/hello", port, as: "user ada")
          #expect(try client.status() == 200)
          return client
        }
        let load = server.load
        // During a request the connection counts for the user alone.
        clients += try (0..<5).map { _ in
          let client = try Client("/wait", port, as: "user ada")
          #expect(try client.connection.receiveHead().hasPrefix("HTTP/1.1 200"))
          return client
        }
        #expect(server.load.connections >= 5)
        #expect(try Client("/hello", port).status() == 200)
        withExtendedLifetime(clients) {}
        return load
      }
      #expect(load.connections == 3)
    }
  }

  @Test("at the limit of connections, idle ones of the address that has most are closed")
  func makesRoom() async throws {
    var configuration = Self.configuration
    configuration.maxConnections = 6
    try await withClient(configuration, router: Self.router()) { port in
      // The one that has been idle longest.
      let alone = try Client("/hello", port, from: "127.0.0.2")
      #expect(try alone.status() == 200)
      let many = try (0..<5).map { _ in
        let client = try Client("/hello", port, as: "user ada")
        #expect(try client.status() == 200)
        return client
      }
      for _ in 0..<3 { #expect(try Client("/hello", port, from: "127.0.0.3").status() == 200) }
      #expect(many[0].connection.receiveRest().isEmpty)
      try alone.send("/hello")
      #expect(try alone.status() == 200)
    }
  }

  @Test("at the limit of connections, a body without a credential gives way, and one with a credential does not")
  func bodies() async throws {
    var configuration = Self.configuration
    configuration.maxConnections = 4
    try await withClient(configuration, router: Self.router()) { port in
      let slow = try (1...4).map { number in
        let client = try Client(port, from: "127.0.0.\(number)")
        let name = number == 1 ? "Authorization: user ada\r\n" : ""
        try client.connection.send(
          "POST /count HTTP/1.1\r\nHost: x\r\n\(name)Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        #expect(try client.connection.receiveHead().hasPrefix("HTTP/1.1 100"))
        return client
      }
      for number in 5...6 { #expect(try Client("/hello", port, from: "127.0.0.\(number)").status() == 200) }
      #expect(try slow[1].status() == 503)
      try slow[0].connection.send("ab")
      #expect(try slow[0].connection.receive().text == "2")
    }
  }

  @Test("the unfinished heads of an address have a share of the memory, and others are served")
  func heads() async throws {
    var configuration = Self.configuration
    configuration.inputBytesPerAddress = 64 << 10
    try await withClient(configuration, router: Self.router()) { port in
      let half = String(repeating: "a", count: 30 << 10)
      func opened(from address: String) throws -> Client {
        let client = try Client(port, from: address)
        try client.connection.send("GET /hello HTTP/1.1\r\nHost: x\r\nX-Long: \(half)")
        return client
      }
      let many = try (0..<3).map { _ in try opened(from: "127.0.0.2") }
      let deadline = Deadline("one of the three is refused")
      var refused: Client?
      while refused == nil {
        try deadline.check()
        refused = many.first { $0.isReadable(within: 10) }
      }
      #expect(try refused?.status() == 429)
      #expect(try Client("/hello", port, from: "127.0.0.2").status() == 200)
      let other = try opened(from: "127.0.0.3")
      for client in many.filter({ $0 !== refused }) + [other] {
        try client.connection.send("\r\n\r\n")
        #expect(try client.status() == 200)
      }
      // The finished ones have left their room to others.
      let next = try (0..<2).map { _ in try opened(from: "127.0.0.2") }
      for client in next {
        try client.connection.send("\r\n\r\n")
        #expect(try client.status() == 200)
      }
    }
  }

  @Test("requests behind one without a credential have the same share", arguments: [nil, "user ada"])
  func pipeline(name: String?) async throws {
    var configuration = Self.configuration
    configuration.inputBytesPerAddress = 4 << 10
    let gate = OneShot<Void>()
    let router = Router(routes: [
      Route("GET", "/gate", admission: Self.known) { _ in
        await gate.value
        return Response(.ok)
      },
      Route("GET", "/hello", admission: Self.known) { _ in Response(.ok) },
    ])
    try await withClient(configuration, router: router) { port in
      let field = name.map { "Authorization: \($0)\r\n" } ?? ""
      let next = String(repeating: "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n", count: 5000)
      let client = try Client(port)
      try? client.connection.send("GET /gate HTTP/1.1\r\nHost: x\r\n\(field)\r\n\(next)")
      // The one without is closed while its handler runs.
      if name != nil { gate.fulfil(()) }
      #expect((try? client.status()) == (name == nil ? nil : 200))
      gate.fulfil(())
      #expect(try Client("/hello", port).status() == 200)
    }
  }

  @Test("connections with thousands of requests that need no handler take turns")
  func pipelinesTakeTurns() async throws {
    let order = Order()
    let gates = ["a": OneShot<Void>(), "b": OneShot<Void>()]
    let router = Router(
      routes: [
        Route("GET", "/gate", admission: Self.known) { request in
          await gates[request.headers["X"] ?? ""]?.value
          return Response(.ok)
        }
      ],
      fallbackAdmission: { (head, _) throws(Problem) in
        if let name = head.headers["X"] { order.add(name) }
        return .known(Named(head))
      })
    try await withClient(Self.configuration, router: router) { port in
      let clients = try ["a", "b"].map { name in
        let client = try Client(port)
        let next = String(repeating: "GET /nothing HTTP/1.1\r\nHost: x\r\nX: \(name)\r\n\r\n", count: 2000)
        try client.connection.send("GET /gate HTTP/1.1\r\nHost: x\r\nX: \(name)\r\n\r\n" + next)
        return client
      }
      for gate in gates.values { gate.fulfil(()) }
      for client in clients {
        #expect(try client.status() == 200)
        for _ in 0..<2000 { #expect(try client.status() == 404) }
      }
    }
    let heads = order.names
    #expect(heads.count == 4000)
    // Neither has had all of its turns before the other one began.
    let first = heads.first
    #expect((heads.firstIndex { $0 != first } ?? .max) < 1000)
  }

  @Test("the system keeps nothing for a client that reads nothing while its connection is idle")
  func unreadTail() async throws {
    var configuration = Self.configuration
    configuration.idleTimeout = .milliseconds(200)
    let length = 100 << 10
    let router = Router(routes: [
      Route("GET", "/tail", admission: Self.known) { _ in
        Response(.ok, body: .bytes([UInt8](repeating: 1, count: length)))
      }
    ])
    try await withServer(configuration, router: router) { server in
      let port = server.port
      let client = try await onThread("client") {
        let client = try Client(port, room: 4096)
        try client.send("/tail")
        return client
      }
      try await until("the first request") { server.load.requests + server.load.connections > 0 }
      try await until("the connection is closed") { server.load.connections == 0 }
      let received = try await onThread("client") { client.connection.receiveRest().count }
      #expect(received < length)
    }
  }

  @Test("the responses that a client does not read have a share of the memory, and others are served")
  func unread() async throws {
    var configuration = Self.configuration
    configuration.outputBytes = 6 << 20
    let router = Router(routes: [
      Route("GET", "/large", admission: Self.known) { _ in
        Response(.ok, body: .bytes([UInt8](repeating: 1, count: 4 << 20)))
      },
      Route("GET", "/hello", admission: Self.known) { _ in Response(.ok) },
    ])
    let (refusals, continuation) = AsyncStream.makeStream(of: String.self)
    let observer = ServerObserver(onRefusal: { continuation.yield("\($0.rawValue): \($1)") })
    try await withServer(configuration, router: router, observer: observer) { server in
      let port = server.port
      let idle = try await onThread("client") { try (0..<2).map { _ in try Client("/large", port, as: "user ada") } }
      #expect(await refusals.first { _ in true } == "user: user ada")
      try await onThread("client") { () throws in
        #expect(try Client("/large", port, as: "user bob").status() == 200)
        #expect(try Client("/hello", port, as: "user ada").status() == 200)
        // One of the two was cut, and the other is sent as it is read.
        let whole = idle.filter { (try? $0.connection.receive().body.count) == 4 << 20 }
        #expect(whole.count == 1)
        #expect(try Client("/large", port, as: "user ada").status() == 200)
      }
    }
    continuation.finish()
  }

  @Test("the body of a request is none of it, also while the credential is looked up", arguments: [nil, "user ada"])
  func bodyOfShare(name: String?) async throws {
    var configuration = Self.configuration
    configuration.inputBytesPerAddress = 4 << 10
    try await withClient(configuration, router: Self.router(Self.pending)) { port in
      let field = name.map { "Authorization: \($0)\r\n" } ?? ""
      let body = String(repeating: "a", count: 200 << 10)
      let client = try Client(port)
      try client.connection.send(
        "POST /count HTTP/1.1\r\nHost: x\r\n\(field)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
      #expect(try client.connection.receive().text == "\(body.utf8.count)")
    }
  }

  @Test("if no connection is idle, a busy one of the client that has most is closed, and a new client is served")
  func busy() async throws {
    var configuration = Self.configuration
    configuration.maxConnections = 6
    configuration.sparedConnections = 2
    try await withClient(configuration, router: Self.router()) { port in
      let streams = try ["bob", "ada", "ada", "ada", "ada", "eve"].enumerated().map { number, user in
        let client = try Client("/wait", port, from: "127.0.0.\(number + 1)", as: "user \(user)")
        #expect(try client.connection.receiveHead().hasPrefix("HTTP/1.1 200"))
        return client
      }
      let new = try (11...12).map { number in
        let client = try Client("/wait", port, from: "127.0.0.\(number)", as: "user new\(number)")
        #expect(try client.connection.receiveHead().hasPrefix("HTTP/1.1 200"))
        return client
      }
      for number in 1...2 { #expect(streams[number].connection.receiveRest().isEmpty) }
      // No client has more than is spared.
      #expect(try Client("/hello", port, from: "127.0.0.13").status() == 503)
      for client in [streams[0], streams[3], streams[5]] + new { #expect(!client.isReadable(within: 0)) }
    }
  }

  @Test("heads on many connections of an address take turns with those of others")
  func turns() async throws {
    let (isHeld, isReleased) = (CancellationFlag(), CancellationFlag())
    let order = Locked<[String]>([])
    // It runs on the network thread, which the first request holds until all others have been sent.
    let admission: Route.Admission = { (head, _) throws(Problem) in
      let name = head.headers["Authorization"] ?? ""
      order.withLock { $0.append(name) }
      if name == "first" {
        isHeld.cancel()
        let deadline = Deadline("the other requests have been sent")
        while !isReleased.isCancelled, (try? deadline.check()) != nil { sched_yield() }
      }
      return .known(Named(head))
    }
    try await withClient(Self.configuration, router: Self.router(admission)) { port in
      func connected(from address: String) throws -> Client {
        let client = try Client("/hello", port, from: address, as: "before")
        #expect(try client.status() == 200)
        return client
      }
      let first = try connected(from: "127.0.0.2")
      let many = try (0..<60).map { _ in try connected(from: "127.0.0.2") }
      let other = try connected(from: "127.0.0.3")
      try first.send("/hello", as: "first")
      let deadline = Deadline("the network thread is held")
      while !isHeld.isCancelled {
        try deadline.check()
        sched_yield()
      }
      for client in many { try client.send("/hello", as: "many") }
      try other.send("/hello", as: "other")
      isReleased.cancel()
      for client in [first, other] + many { #expect(try client.status() == 200) }
    }
    let served = order.withLock { $0.drop { $0 != "first" } }
    #expect(served.count == 62)
    let before = try #require(served.firstIndex(of: "other")) - served.startIndex
    #expect(before <= 20, "\(before) of 61 were served before the other")
  }

  @Test(
    "a route that answers at once needs no thread of handlers, and the handlers of one client leave one to others",
    arguments: ["user ada", "key 7", nil], [false, true])
  func threads(name: String?, waitsForDisk: Bool) async throws {
    let isReleased = try Event()
    let (starts, start) = AsyncStream.makeStream(of: Void.self)
    let diskProblem =
      waitsForDisk ? Problem(.serviceUnavailable, type: "urn:x", title: "X", detail: "The disk hangs.") : nil
    let router = Router(routes: [
      Route("GET", "/block", diskProblem: diskProblem, admission: Self.known) { _ in
        start.yield()
        isReleased.wait()
        return Response(.ok)
      },
      Route("GET", "/hello", diskProblem: diskProblem, admission: Self.known) { _ in Response(.ok) },
      Route("/live", admission: Route.open) { _ in Response(.ok) },
    ])
    var configuration = ServerConfiguration()
    (configuration.handlerThreads, configuration.diskThreads, configuration.diskTime) = (2, 2, .seconds(900))
    try await withServer(configuration, router: router) { server in
      // Also if the test fails before: the server waits for its handlers.
      defer { isReleased.signal() }
      let port = server.port
      func send(_ path: String, as name: String?) async throws -> Client {
        try await onThread("client") { try Client(path, port, as: name) }
      }
      func isAnswered(_ path: String, as name: String?) async throws -> Bool {
        try await onThread("client") { try Client(path, port, as: name).isReadable(within: 10_000) }
      }
      var started = starts.makeAsyncIterator()
      var blocked: [Client] = []
      for _ in 0..<6 { blocked.append(try await send("/block", as: name)) }
      for _ in 0..<2 { _ = await started.next() }
      for other in ["user bob", "key 8"] { #expect(try await isAnswered("/hello", as: other)) }
      // Now others hold the last thread too.
      blocked.append(try await send("/block", as: "user bob"))
      _ = await started.next()
      #expect(try await isAnswered("/live", as: nil))
      isReleased.signal()
      for client in blocked { #expect(try await onThread("client") { try client.status() } == 200) }
    }
  }
}

/// A connection as a class, so that an array can store it.
private final class Client: @unchecked Sendable {
  var connection: ClientConnection

  init(_ port: UInt16, from address: String? = nil, room: Int32? = nil) throws {
    connection = try ClientConnection(port: port, from: address, room: room)
  }

  /// Sends a request without a body.
  convenience init(_ path: String, _ port: UInt16, from address: String? = nil, as name: String? = nil) throws {
    try self.init(port, from: address)
    try send(path, as: name)
  }

  func send(_ path: String, as name: String? = nil) throws {
    let field = name.map { "Authorization: \($0)\r\n" } ?? ""
    try connection.send("GET \(path) HTTP/1.1\r\nHost: x\r\n\(field)\r\n")
  }

  func status() throws -> Int { try connection.receive().status }

  func isReadable(within milliseconds: Int32) -> Bool { connection.isReadable(within: milliseconds) }
}
