import Glibc
import HTTPServer
import HTTPTesting
import Platform
import Testing
import WaitTesting

@Suite("The memory that one client can occupy", .tags(.network), .timeLimit(.minutes(60)))
struct MemoryShareTests {
  @Test("the unfinished heads of an address have a share of the memory, and others are served")
  func heads() async throws {
    var configuration = ConnectionShares.configuration
    configuration.inputBytesPerAddress = 64 << 10
    try await withClient(configuration, router: ConnectionShares.router()) { port in
      let half = String(repeating: "a", count: 30 << 10)
      func opened(from address: String) throws -> SharingClient {
        let client = try SharingClient(port, from: address)
        try client.connection.send("GET /hello HTTP/1.1\r\nHost: x\r\nX-Long: \(half)")
        return client
      }
      let many = try (0..<3).map { _ in try opened(from: "127.0.0.2") }
      let deadline = Deadline("one of the three is refused")
      var refused: SharingClient?
      while refused == nil {
        try deadline.check()
        refused = many.first { $0.isReadable(within: 10) }
      }
      #expect(try refused?.status() == 429)
      #expect(try SharingClient("/hello", port, from: "127.0.0.2").status() == 200)
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
    var configuration = ConnectionShares.configuration
    configuration.inputBytesPerAddress = 4 << 10
    let gate = OneShot<Void>()
    let router = Router(routes: [
      Route("GET", "/gate", admission: ConnectionShares.known) { _ in
        await gate.value
        return Response(.ok)
      },
      Route("GET", "/hello", admission: ConnectionShares.known) { _ in Response(.ok) },
    ])
    try await withClient(configuration, router: router) { port in
      let field = name.map { "Authorization: \($0)\r\n" } ?? ""
      let next = String(repeating: "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n", count: 5000)
      let client = try SharingClient(port)
      try? client.connection.send("GET /gate HTTP/1.1\r\nHost: x\r\n\(field)\r\n\(next)")
      // The one without is closed while its handler runs.
      if name != nil { gate.fulfil(()) }
      #expect((try? client.status()) == (name == nil ? nil : 200))
      gate.fulfil(())
      #expect(try SharingClient("/hello", port).status() == 200)
    }
  }

  @Test("the body of a request is none of it, also while the credential is looked up", arguments: [nil, "user ada"])
  func bodyOfShare(name: String?) async throws {
    var configuration = ConnectionShares.configuration
    configuration.inputBytesPerAddress = 4 << 10
    try await withClient(configuration, router: ConnectionShares.router(ConnectionShares.pending)) { port in
      let field = name.map { "Authorization: \($0)\r\n" } ?? ""
      let body = String(repeating: "a", count: 200 << 10)
      let client = try SharingClient(port)
      try client.connection.send(
        "POST /count HTTP/1.1\r\nHost: x\r\n\(field)Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
      #expect(try client.connection.receive().text == "\(body.utf8.count)")
    }
  }

  @Test("the system keeps nothing for a client that reads nothing while its connection is idle")
  func unreadTail() async throws {
    var configuration = ConnectionShares.configuration
    configuration.idleTimeout = .milliseconds(200)
    let length = 100 << 10
    let router = Router(routes: [
      Route("GET", "/tail", admission: ConnectionShares.known) { _ in
        Response(.ok, body: .bytes([UInt8](repeating: 1, count: length)))
      }
    ])
    try await withServer(configuration, router: router) { server in
      let port = server.port
      let client = try await onThread("client") {
        let client = try SharingClient(port, room: 4096)
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
    var configuration = ConnectionShares.configuration
    configuration.outputBytes = 6 << 20
    let router = Router(routes: [
      Route("GET", "/large", admission: ConnectionShares.known) { _ in
        Response(.ok, body: .bytes([UInt8](repeating: 1, count: 4 << 20)))
      },
      Route("GET", "/hello", admission: ConnectionShares.known) { _ in Response(.ok) },
    ])
    let (refusals, continuation) = AsyncStream.makeStream(of: String.self)
    let observer = ServerObserver(onRefusal: { continuation.yield("\($0.rawValue): \($1)") })
    try await withServer(configuration, router: router, observer: observer) { server in
      let port = server.port
      let idle = try await onThread("client") {
        try (0..<2).map { _ in try SharingClient("/large", port, as: "user ada") }
      }
      #expect(await refusals.first { _ in true } == "user: user ada")
      try await onThread("client") { () throws in
        #expect(try SharingClient("/large", port, as: "user bob").status() == 200)
        #expect(try SharingClient("/hello", port, as: "user ada").status() == 200)
        // One of the two was cut, and the other is sent as it is read.
        let whole = idle.filter { (try? $0.connection.receive().body.count) == 4 << 20 }
        #expect(whole.count == 1)
        #expect(try SharingClient("/large", port, as: "user ada").status() == 200)
      }
    }
    continuation.finish()
  }
}
