import Glibc
import HTTPServer
import HTTPTesting
import Platform
import Testing
import WaitTesting

@Suite("The connections that one client can occupy", .tags(.network), .timeLimit(.minutes(60)))
struct ConnectionShareTests {
  @Test(
    "a user and a key have a number of concurrent requests, from all addresses, and others are served",
    arguments: ["user ada", "key 7"], [false, true])
  func credentials(name: String, isPending: Bool) async throws {
    var configuration = ConnectionShares.configuration
    (configuration.maxPerUser, configuration.maxPerKey) = (2, 2)
    let (refusals, continuation) = AsyncStream.makeStream(of: String.self)
    let observer = ServerObserver(onRefusal: { continuation.yield("\($0.rawValue): \($1)") })
    let router = ConnectionShares.router(isPending ? ConnectionShares.pending : ConnectionShares.known)
    try await withServer(configuration, router: router, observer: observer) { server in
      let port = server.port
      try await onThread("client") {
        var streams = try (1...2).map { try SharingClient("/wait", port, from: "127.0.0.\($0)", as: name) }
        for stream in streams { #expect(try stream.connection.receiveHead().hasPrefix("HTTP/1.1 200")) }
        let refused = try SharingClient("/hello", port, from: "127.0.0.3", as: name).connection.receive()
        #expect(refused.status == 429)
        #expect(refused.headers["retry-after"] == "1")
        for other in ["user bob", "key 8", nil] {
          #expect(try SharingClient("/hello", port, as: other).status() == 200)
        }
        streams.removeLast()
        // The server notices that the client has left.
        let deadline = Deadline("the server notices that the client has left")
        while try SharingClient("/hello", port, as: name).status() != 200 { try deadline.check() }
      }
    }
    continuation.finish()
    let first = await refusals.first { _ in true }
    #expect(first == "\(name.prefix { $0 != " " }): \(name)")
  }

  @Test("an idle connection counts for its address, although its client has authenticated")
  func idle() async throws {
    var configuration = ConnectionShares.configuration
    configuration.maxPerAddress = 3
    try await withServer(configuration, router: ConnectionShares.router()) { server in
      let port = server.port
      let load = try await onThread("client") {
        var clients = try (0..<10).map { _ in
          let client = try SharingClient("/hello", port, as: "user ada")
          #expect(try client.status() == 200)
          return client
        }
        let load = server.load
        // During a request the connection counts for the user alone.
        clients += try (0..<5).map { _ in
          let client = try SharingClient("/wait", port, as: "user ada")
          #expect(try client.connection.receiveHead().hasPrefix("HTTP/1.1 200"))
          return client
        }
        #expect(server.load.connections >= 5)
        #expect(try SharingClient("/hello", port).status() == 200)
        withExtendedLifetime(clients) {}
        return load
      }
      #expect(load.connections == 3)
    }
  }

  @Test("at the limit of connections, idle ones of the address that has most are closed")
  func makesRoom() async throws {
    var configuration = ConnectionShares.configuration
    configuration.maxConnections = 6
    try await withClient(configuration, router: ConnectionShares.router()) { port in
      // The one that has been idle longest.
      let alone = try SharingClient("/hello", port, from: "127.0.0.2")
      #expect(try alone.status() == 200)
      let many = try (0..<5).map { _ in
        let client = try SharingClient("/hello", port, as: "user ada")
        #expect(try client.status() == 200)
        return client
      }
      for _ in 0..<3 { #expect(try SharingClient("/hello", port, from: "127.0.0.3").status() == 200) }
      #expect(many[0].connection.receiveRest().isEmpty)
      try alone.send("/hello")
      #expect(try alone.status() == 200)
    }
  }

  @Test("at the limit of connections, a body without a credential gives way, and one with a credential does not")
  func bodies() async throws {
    var configuration = ConnectionShares.configuration
    configuration.maxConnections = 4
    try await withClient(configuration, router: ConnectionShares.router()) { port in
      let slow = try (1...4).map { number in
        let client = try SharingClient(port, from: "127.0.0.\(number)")
        let name = number == 1 ? "Authorization: user ada\r\n" : ""
        try client.connection.send(
          "POST /count HTTP/1.1\r\nHost: x\r\n\(name)Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")
        #expect(try client.connection.receiveHead().hasPrefix("HTTP/1.1 100"))
        return client
      }
      for number in 5...6 { #expect(try SharingClient("/hello", port, from: "127.0.0.\(number)").status() == 200) }
      #expect(try slow[1].status() == 503)
      try slow[0].connection.send("ab")
      #expect(try slow[0].connection.receive().text == "2")
    }
  }

  @Test("if no connection is idle, a busy one of the client that has most is closed, and a new client is served")
  func busy() async throws {
    var configuration = ConnectionShares.configuration
    configuration.maxConnections = 6
    configuration.sparedConnections = 2
    try await withClient(configuration, router: ConnectionShares.router()) { port in
      let streams = try ["bob", "ada", "ada", "ada", "ada", "eve"].enumerated().map { number, user in
        let client = try SharingClient("/wait", port, from: "127.0.0.\(number + 1)", as: "user \(user)")
        #expect(try client.connection.receiveHead().hasPrefix("HTTP/1.1 200"))
        return client
      }
      let new = try (11...12).map { number in
        let client = try SharingClient("/wait", port, from: "127.0.0.\(number)", as: "user new\(number)")
        #expect(try client.connection.receiveHead().hasPrefix("HTTP/1.1 200"))
        return client
      }
      for number in 1...2 { #expect(streams[number].connection.receiveRest().isEmpty) }
      // No client has more than is spared.
      #expect(try SharingClient("/hello", port, from: "127.0.0.13").status() == 503)
      for client in [streams[0], streams[3], streams[5]] + new { #expect(!client.isReadable(within: 0)) }
    }
  }
}
