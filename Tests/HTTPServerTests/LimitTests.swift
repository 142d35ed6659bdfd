import HTTPTesting
import Platform
import Testing

@testable import HTTPServer

/// Tests of the limits of connections, requests and streams.
@Suite(.tags(.network), .timeLimit(.minutes(60)))
struct LimitTests {
  private static func hello(admission: @escaping Route.Admission = Route.open) -> Router {
    Router(routes: [
      Route("GET", "/hello", admission: admission) { request in
        Response(.ok, body: .bytes(Array(request.client.description.utf8)))
      }
    ])
  }

  /// `/wait` responds with a stream that does not end, `/hello` immediately.
  private static let waiting = Router(routes: [
    Route("GET", "/wait", admission: Route.open) { _ in Response(.ok, body: .stream(BodyStream())) },
    Route("GET", "/hello", admission: Route.open) { request in
      Response(.ok, body: .bytes(Array(request.client.description.utf8)))
    },
  ])

  @Test("a connection over the limit of its address is refused, and other addresses are served")
  func perAddress() async throws {
    var configuration = ServerConfiguration()
    configuration.networkThreads = 1
    configuration.maxPerAddress = 2
    let (refusals, continuation) = AsyncStream.makeStream(of: String.self)
    let (statuses, statusContinuation) = AsyncStream.makeStream(of: Int.self)
    let observer = ServerObserver(
      onAccess: { statusContinuation.yield($0.status) }, onRefusal: { continuation.yield("\($0) \($1)") })
    try await withClient(configuration, router: Self.waiting, observer: observer) { port in
      let busy = try (0..<2).map { _ in
        let client = try Client(port: port)
        try client.connection.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = try client.connection.receiveHead()
        return client
      }
      var refused = try ClientConnection(port: port)
      let response = try refused.receive()
      #expect(response.status == 429)
      #expect(response.headers["retry-after"] != nil)
      #expect(refused.receiveRest().isEmpty)
      var other = try ClientConnection(port: port, from: "127.0.0.2")
      try other.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try other.receive().text == "127.0.0.2")
      withExtendedLifetime(busy) {}
    }
    continuation.finish()
    statusContinuation.finish()
    #expect(await refusals.reduce(into: []) { $0.append($1) } == ["address 127.0.0.1"])
    // The access log does not contain refused connections.
    #expect(await statuses.reduce(into: []) { $0.append($1) }.contains(429) == false)
  }

  @Test("at the limit of an address, its idle connections are closed, and a slow one gets a response")
  func sameAddress() async throws {
    var configuration = ServerConfiguration()
    configuration.networkThreads = 1
    configuration.maxPerAddress = 3
    try await withServer(configuration, router: Self.waiting) { server in
      let port = server.port
      try await onThread("client") {
        let slow = try Client(port: port)
        try slow.connection.send("GET /hello HTTP/1.1\r\nHo")
        // When the server responds to another request, it has read this one.
        let other = try Client(port: port)
        try other.connection.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(try other.status() == 200)
        var silent: [Client] = []
        for _ in 0..<10 { silent.append(try Client(port: port)) }
        #expect(try slow.status() == 429)
        #expect(silent[0].connection.receiveRest().isEmpty)
      }
    }
  }

  @Test("lingering connections are closed at the limit")
  func lingering() async throws {
    var configuration = ServerConfiguration()
    configuration.networkThreads = 1
    configuration.maxConnections = 3
    try await withClient(configuration, router: Self.waiting) { port in
      let lingering = try (0..<3).map { _ in
        let client = try Client(port: port)
        try client.connection.send("X\r\n\r\n")
        #expect(try client.status() == 400)
        return client
      }
      let new = try Client(port: port)
      try new.connection.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try new.status() == 200)
      withExtendedLifetime(lingering) {}
    }
  }

  @Test("at the limit without idle connections, a new connection is refused with 503")
  func noRoom() async throws {
    var configuration = ServerConfiguration()
    configuration.networkThreads = 1
    configuration.maxConnections = 2
    let router = Router(routes: [
      Route("GET", "/wait", admission: Route.open) { _ in Response(.ok, body: .stream(BodyStream())) }
    ])
    try await withClient(configuration, router: router) { port in
      let waiting = try (0..<2).map { _ in
        let client = try Client(port: port)
        try client.connection.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = try client.connection.receiveHead()
        return client
      }
      var new = try ClientConnection(port: port)
      #expect(try new.receive().status == 503)
      withExtendedLifetime(waiting) {}
    }
  }

  @Test("a stream over the limit is refused with 503")
  func streams() async throws {
    var configuration = ServerConfiguration()
    configuration.maxStreams = 1
    let router = Router(routes: [
      Route("GET", "/wait", admission: Route.open) { _ in Response(.ok, body: .stream(BodyStream())) }
    ])
    try await withClient(configuration, router: router) { port in
      var first = try ClientConnection(port: port)
      try first.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try first.receiveHead().hasPrefix("HTTP/1.1 200"))
      var second = try ClientConnection(port: port)
      try second.send("GET /wait HTTP/1.1\r\nHost: x\r\n\r\n")
      let response = try second.receive()
      #expect(response.status == 503)
      #expect(response.headers["retry-after"] != nil)
    }
  }

  @Test(
    "the client address is taken from X-Forwarded-For of trusted proxies only",
    arguments: [
      (["127.0.0.1"], "192.0.2.7", "192.0.2.7"),
      (["127.0.0.0/8", "10.0.0.0/8"], "192.0.2.7, 10.1.2.3", "192.0.2.7"),
      (["127.0.0.1"], "192.0.2.7, 10.1.2.3", "10.1.2.3"),
      (["127.0.0.1"], "2001:db8::7", "2001:db8::7"),
      (["127.0.0.1"], "unknown, 192.0.2.7", "192.0.2.7"),
      (["127.0.0.1"], "192.0.2.7:555", "192.0.2.7"),
      (["127.0.0.1"], "[2001:db8::7]:555", "2001:db8::7"),
      (["127.0.0.1"], "[2001:db8::7]", "2001:db8::7"),
      (["127.0.0.1"], "10.1.2.3,\t192.0.2.7 ,", "192.0.2.7"),
      // What combines with the comma, before it (U+0600) or after it (U+0301), hides no client.
      (["127.0.0.1"], "10.1.2.3\u{600}, 192.0.2.7", "192.0.2.7"),
      (["127.0.0.1"], "10.1.2.3,\u{301}, 192.0.2.7", "192.0.2.7"),
      (["127.0.0.1"], "", "127.0.0.1"),
      (["10.0.0.0/8"], "192.0.2.7", "127.0.0.1"),
      ([], "192.0.2.7", "127.0.0.1"),
    ])
  func forwarded(trusted: [String], field: String, client: String) async throws {
    var configuration = ServerConfiguration()
    configuration.trustedProxies = trusted.compactMap { AddressRange($0) }
    try await withServer(configuration, router: Self.hello()) { server in
      let response = try await request("GET", "/hello", port: server.port, headers: [("X-Forwarded-For", field)])
      #expect(response.text == client)
    }
  }

  @Test(
    "a client that a trusted proxy does not name by its address is refused, and not taken for the proxy",
    arguments: [
      "unknown", "192.0.2.7, unknown", "192.0.2.7, \u{301}", "unknown, 10.1.2.3", "192.0.2.7:", "192.0.2.7:65536",
      "192.0.2.7:x", "[2001:db8::7", "[2001:db8::7]x", "[]", "2001:db8::7%eth0", "192.0.2.7\u{600}",
    ])
  func unknownClient(field: String) async throws {
    var configuration = ServerConfiguration()
    configuration.trustedProxies = ["127.0.0.1", "10.0.0.0/8"].compactMap { AddressRange($0) }
    try await withServer(configuration, router: Self.hello()) { server in
      let response = try await request("GET", "/hello", port: server.port, headers: [("X-Forwarded-For", field)])
      #expect(response.status == 400)
    }
  }

  @Test("behind a proxy, the requests of an address count, and the proxy's connections do not")
  func behindAProxy() async throws {
    var configuration = ServerConfiguration()
    configuration.trustedProxies = [try #require(AddressRange("127.0.0.1"))]
    configuration.maxPerAddress = 2
    let router = Router(routes: [
      Route("GET", "/wait", admission: Route.open) { _ in Response(.ok, body: .stream(BodyStream())) },
      Route("GET", "/hello", admission: Route.open) { _ in Response(.ok) },
    ])
    try await withClient(configuration, router: router) { port in
      func send(_ path: String, for address: String) throws -> Client {
        let client = try Client(port: port)
        try client.connection.send("GET \(path) HTTP/1.1\r\nHost: x\r\nX-Forwarded-For: \(address)\r\n\r\n")
        return client
      }
      let waiting = try (0..<2).map { _ in
        let client = try send("/wait", for: "192.0.2.7")
        #expect(try client.connection.receiveHead().hasPrefix("HTTP/1.1 200"))
        return client
      }
      #expect(try send("/hello", for: "192.0.2.7").status() == 429)
      #expect(try send("/hello", for: "192.0.2.8").status() == 200)
      withExtendedLifetime(waiting) {}
    }
  }
}

/// A connection as a class, so that an array can store it.
private final class Client {
  var connection: ClientConnection

  init(port: UInt16) throws { connection = try ClientConnection(port: port) }

  func status() throws -> Int { try connection.receive().status }
}
