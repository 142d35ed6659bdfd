import HTTPTesting
import Platform
import Testing

@testable import HTTPServer

/// Many who ask for too much, and those who are to be served all the same.
@Suite(.tags(.network), .timeLimit(.minutes(10)))
struct LimitTests {
  private static func hello(admission: @escaping Route.Admission = { (_, _) throws(Problem) in nil }) -> Router {
    Router(routes: [
      Route("GET", "/hello", admission: admission) { request in
        Response(.ok, body: .bytes(Array(request.client.description.utf8)))
      }
    ])
  }

  /// Answers at once, or not at all.
  private static let waiting = Router(routes: [
    Route("GET", "/wait") { _ in Response(.ok, body: .stream(BodyStream())) },
    Route("GET", "/hello", admission: { (head, _) throws(Problem) in head.headers["Authorization"] }) { request in
      Response(.ok, body: .bytes(Array(request.client.description.utf8)))
    },
  ])

  @Test("Who is one too many from an address is told so, and others are served")
  func perAddress() async throws {
    var configuration = ServerConfiguration()
    configuration.networkThreads = 1
    configuration.maxPerAddress = 2
    let (refusals, continuation) = AsyncStream.makeStream(of: String.self)
    let (answers, told) = AsyncStream.makeStream(of: Int.self)
    let observer = ServerObserver(
      onAccess: { told.yield($0.status) }, onRefusal: { continuation.yield("\($0) \($1)") })
    try await withServer(configuration, router: Self.waiting, observer: observer) { server in
      let port = server.port
      try await onThread("client") {
        let busy = try (0..<2).map { _ in
          let client = try Client(port: port)
          try client.connection.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
          _ = try client.connection.receiveHead()
          return client
        }
        var refused = try ClientConnection(port: port)
        let answer = try refused.receive()
        #expect(answer.status == 429)
        #expect(answer.headers["retry-after"] != nil)
        #expect(refused.receiveRest().isEmpty)
        var other = try ClientConnection(port: port, from: "127.0.0.2")
        try other.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try other.receive().text == "127.0.0.2")
        withExtendedLifetime(busy) {}
      }
    }
    continuation.finish()
    told.finish()
    #expect(await refusals.reduce(into: []) { $0.append($1) } == ["address 127.0.0.1"])
    // A crowd that is turned away stands in no log.
    #expect(await answers.reduce(into: []) { $0.append($1) }.contains(429) == false)
  }

  @Test("At the limit of an address its idle connections make room, and one that dawdles is told why")
  func sameAddress() async throws {
    var configuration = ServerConfiguration()
    configuration.networkThreads = 1
    configuration.maxPerAddress = 3
    try await withServer(configuration, router: Self.waiting) { server in
      let port = server.port
      try await onThread("client") {
        let dawdling = try Client(port: port)
        try dawdling.connection.send("GET /hello HTTP/1.1\r\nHo")
        // The server has read that once it answers another.
        let other = try Client(port: port)
        try other.connection.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try other.answer() == 200)
        var silent: [Client] = []
        for _ in 0..<10 { silent.append(try Client(port: port)) }
        #expect(try dawdling.answer() == 429)
        // Who has a key gets in, and stays.
        let keyed = try Client(port: port)
        let request = "GET /hello HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\n\r\n"
        try keyed.connection.send(request)
        #expect(try keyed.answer() == 200)
        for _ in 0..<10 { silent.append(try Client(port: port)) }
        try keyed.connection.send(request)
        #expect(try keyed.answer() == 200)
        #expect(silent[0].connection.receiveRest().isEmpty)
      }
    }
  }

  @Test("Those that were answered and do not go make room too")
  func lingering() async throws {
    var configuration = ServerConfiguration()
    configuration.networkThreads = 1
    configuration.maxConnections = 3
    try await withServer(configuration, router: Self.waiting) { server in
      let port = server.port
      try await onThread("client") {
        let staying = try (0..<3).map { _ in
          let client = try Client(port: port)
          try client.connection.send("X\r\n\r\n")
          #expect(try client.answer() == 400)
          return client
        }
        let newcomer = try Client(port: port)
        try newcomer.connection.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try newcomer.answer() == 200)
        withExtendedLifetime(staying) {}
      }
    }
  }

  @Test("Where all connections are taken, those that are idle make room; those with a key stay")
  func makesRoom() async throws {
    var configuration = ServerConfiguration()
    configuration.networkThreads = 1
    configuration.maxConnections = 3
    let router = Self.hello { (head, _) throws(Problem) in head.headers["Authorization"] }
    try await withServer(configuration, router: router) { server in
      let port = server.port
      try await onThread("client") {
        var keyed = try ClientConnection(port: port)
        try keyed.send("GET /hello HTTP/1.1\r\nHost: x\r\nAuthorization: a\r\n\r\n")
        #expect(try keyed.receive().status == 200)
        var idle: [Client] = []
        for _ in 0..<2 {
          idle.append(try Client(port: port))
          try idle[idle.count - 1].connection.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
          #expect(try idle[idle.count - 1].connection.receive().status == 200)
        }
        for _ in 0..<5 {
          var newcomer = try ClientConnection(port: port)
          try newcomer.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
          #expect(try newcomer.receive().status == 200)
        }
        #expect(idle[0].connection.receiveRest().isEmpty)
        try keyed.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try keyed.receive().status == 200)
      }
    }
  }

  @Test("Where nobody is idle, who comes is told that there is no room")
  func noRoom() async throws {
    var configuration = ServerConfiguration()
    configuration.networkThreads = 1
    configuration.maxConnections = 2
    let router = Router(routes: [Route("GET", "/wait") { _ in Response(.ok, body: .stream(BodyStream())) }])
    try await withServer(configuration, router: router) { server in
      let port = server.port
      try await onThread("client") {
        let waiting = try (0..<2).map { _ in
          let client = try Client(port: port)
          try client.connection.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
          _ = try client.connection.receiveHead()
          return client
        }
        var newcomer = try ClientConnection(port: port)
        #expect(try newcomer.receive().status == 503)
        withExtendedLifetime(waiting) {}
      }
    }
  }

  @Test("Streams leave room for others")
  func streams() async throws {
    var configuration = ServerConfiguration()
    configuration.maxStreams = 1
    let router = Router(routes: [Route("GET", "/wait") { _ in Response(.ok, body: .stream(BodyStream())) }])
    try await withServer(configuration, router: router) { server in
      let port = server.port
      try await onThread("client") {
        var first = try ClientConnection(port: port)
        try first.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try first.receiveHead().hasPrefix("HTTP/1.1 200"))
        var second = try ClientConnection(port: port)
        try second.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
        let answer = try second.receive()
        #expect(answer.status == 503)
        #expect(answer.headers["retry-after"] != nil)
      }
    }
  }

  @Test(
    "The client is whom trusted proxies name, and nobody else names one",
    arguments: [
      (["127.0.0.1"], "192.0.2.7", "192.0.2.7"),
      (["127.0.0.0/8", "10.0.0.0/8"], "192.0.2.7, 10.1.2.3", "192.0.2.7"),
      (["127.0.0.1"], "192.0.2.7, 10.1.2.3", "10.1.2.3"),
      (["127.0.0.1"], "2001:db8::7", "2001:db8::7"),
      (["127.0.0.1"], "unknown", "127.0.0.1"),
      (["127.0.0.1"], "192.0.2.7, unknown", "127.0.0.1"),
      (["127.0.0.1"], "", "127.0.0.1"),
      (["10.0.0.0/8"], "192.0.2.7", "127.0.0.1"),
      ([], "192.0.2.7", "127.0.0.1"),
    ])
  func forwarded(trusted: [String], field: String, client: String) async throws {
    var configuration = ServerConfiguration()
    configuration.trustedProxies = trusted.compactMap { AddressRange($0) }
    try await withServer(configuration, router: Self.hello()) { server in
      let answer = try await request("GET", "/hello", port: server.port, headers: [("X-Forwarded-For", field)])
      #expect(answer.text == client)
    }
  }

  @Test("The requests of an address that a proxy names count, and the proxy's connections do not")
  func behindAProxy() async throws {
    var configuration = ServerConfiguration()
    configuration.trustedProxies = [try #require(AddressRange("127.0.0.1"))]
    configuration.maxPerAddress = 2
    let router = Router(routes: [
      Route("GET", "/wait") { _ in Response(.ok, body: .stream(BodyStream())) },
      Route("GET", "/hello") { _ in Response(.ok) },
    ])
    try await withServer(configuration, router: router) { server in
      let port = server.port
      try await onThread("client") {
        func ask(_ path: String, for address: String) throws -> Client {
          let client = try Client(port: port)
          try client.connection.send("GET \(path) HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: \(address)\r\n\r\n")
          return client
        }
        let waiting = try (0..<2).map { _ in
          let client = try ask("/wait", for: "192.0.2.7")
          #expect(try client.connection.receiveHead().hasPrefix("HTTP/1.1 200"))
          return client
        }
        #expect(try ask("/hello", for: "192.0.2.7").answer() == 429)
        #expect(try ask("/hello", for: "192.0.2.8").answer() == 200)
        withExtendedLifetime(waiting) {}
      }
    }
  }
}

/// A connection that an array can hold.
private final class Client {
  var connection: ClientConnection

  init(port: UInt16) throws { connection = try ClientConnection(port: port) }

  func answer() throws -> Int { try connection.receive().status }
}
