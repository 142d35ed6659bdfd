import HTTPServer
import HTTPTesting
import Platform
import Testing
import WaitTesting

@Suite("Bodies that arrive slowly, or after the response", .tags(.network), .timeLimit(.minutes(60)))
struct SlowBodyTests {
  /// `/count` counts the bytes of a body from which a client can go on, and reports how many came before an error.
  private static func router(_ report: @escaping @Sendable (Int, BodyError) -> Void = { _, _ in }) -> Router {
    Router(routes: [
      Route("POST", "/count", bodyLimit: .max, isResumable: true, admission: Route.open) { request in
        var count = 0
        do throws(BodyError) {
          var chunks = request.body.makeAsyncIterator()
          // Ends: with the body, or by the timeouts of the server.
          while let chunk = try await chunks.next() { count += chunk.count }
        } catch {
          report(count, error)
          throw error
        }
        return Response(.ok, body: .bytes(Array("\(count)".utf8)))
      },
      Route("POST", "/refuse", bodyLimit: .max, admission: Route.open) { _ in Response(.forbidden) },
      // Half a MiB shows that the rest is in vain.
      Route("POST", "/judge", bodyLimit: .max, admission: Route.open) { request in
        var count = 0
        var chunks = request.body.makeAsyncIterator()
        // Ends: with the body, or by the timeouts of the server.
        while count < 512 << 10, let chunk = try await chunks.next() { count += chunk.count }
        return Response(.forbidden)
      },
    ])
  }

  @Test("a client that can go on gets no response when it sends nothing more, and what it has sent has arrived")
  func resumable() async throws {
    var configuration = ServerConfiguration()
    configuration.idleTimeout = .milliseconds(200)
    let (failures, continuation) = AsyncStream.makeStream(of: (Int, BodyError).self)
    try await withServer(configuration, router: Self.router { continuation.yield(($0, $1)) }) { server in
      let port = server.port
      let rest = try await onThread("client") {
        var connection = try ClientConnection(port: port)
        try connection.send("POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf")
        return connection.receiveRest()
      }
      #expect(rest.isEmpty)
      // A server that stops cancels the handlers that have not seen the end of their bodies yet.
      let failure = try #require(await failures.first { _ in true })
      #expect(failure == (4, .deadlineExceeded))
    }
  }

  @Test("the time for a body from which a client can go on grows with what arrives")
  func progress() async throws {
    var configuration = ServerConfiguration()
    configuration.requestTimeout = .milliseconds(500)
    configuration.minReceiveRate = 1
    try await withServer(configuration, router: Self.router()) { server in
      let port = server.port
      let response = try await onThread("client") {
        var connection = try ClientConnection(port: port)
        try connection.send("POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n")
        var sent = 0
        let deadline = Deadline("room for 100 bytes")
        while sent < 100, !connection.isReadable(within: 20) {
          try deadline.check()
          try connection.send("x")
          sent += 1
        }
        return try connection.receive()
      }
      #expect(response.status == 200 && response.text == "100")
    }
  }

  @Test("a body of single bytes ends with 408, also if it has no end", arguments: ["10", "1000000", nil])
  func trickle(length: String?) async throws {
    var configuration = ServerConfiguration()
    configuration.shortBodyTimeout = .milliseconds(200)
    configuration.bodyTimeout = .milliseconds(200)
    configuration.minBodyRate = 1 << 20
    let router = Router(routes: [
      Route("POST", "/count", bodyLimit: length == nil ? 1000 : 1 << 20, admission: Route.open) { request in
        for try await _ in request.body {}
        return Response(.ok)
      }
    ])
    try await withServer(configuration, router: router) { server in
      let port = server.port
      let status = try await onThread("client") {
        var connection = try ClientConnection(port: port)
        let framing = length.map { "Content-Length: \($0)" } ?? "Transfer-Encoding: chunked"
        try connection.send("POST /count HTTP/1.1\r\nHost: x\r\n\(framing)\r\n\r\n")
        if length == nil { try connection.send("3e8;") }
        // Of ten bytes the last one is not sent.
        var sent = 1
        let deadline = Deadline("room for 250 bytes")
        while sent < Int(length ?? "250") ?? 0, !connection.isReadable(within: 20) {
          try deadline.check()
          try connection.send("x")
          sent += 1
        }
        return try connection.receive().status
      }
      #expect(status == 408)
    }
  }

  @Test("of a body that is refused by its first half MiB, the system acknowledges at most 1 MB")
  func early() async throws {
    try await withServer(router: Self.router()) { server in
      let port = server.port
      let (acknowledged, status) = try await onThread("client") {
        var connection = try ClientConnection(port: port)
        let length = 20_000_000
        try connection.send("POST /judge HTTP/1.1\r\nHost: x\r\nContent-Length: \(length)\r\n\r\n")
        let body = [UInt8](repeating: 0, count: length)
        var sent = 0
        let deadline = Deadline("a response")
        while sent < length, !connection.isReadable(within: 0) {
          try deadline.check()
          sent += connection.sendWhilePossible(body[sent...])
        }
        let status = try connection.receive().status
        return (connection.acknowledgedBytes, status)
      }
      #expect(status == 403)
      #expect(acknowledged >= 512 << 10 && acknowledged <= 1_000_000, "\(acknowledged) bytes")
    }
  }

  @Test("a client that goes on sending after an early response is stopped by a closed window, and has the response")
  func discarded() async throws {
    try await withServer(router: Self.router()) { server in
      let port = server.port
      let (sent, status) = try await onThread("client") {
        var connection = try ClientConnection(port: port)
        try connection.send("POST /refuse HTTP/1.1\r\nHost: x\r\nContent-Length: \(1 << 30)\r\n\r\n")
        let status = try connection.receive().status
        var sent = 0
        let chunk = [UInt8](repeating: 0, count: 1 << 20)
        // The connection ends once the server has waited for a client that may send no more.
        while sent < 1 << 30, (try? connection.send(chunk)) != nil { sent += chunk.count }
        return (sent, status)
      }
      #expect(status == 403)
      // The buffers of both sockets, at their largest, and what the server discards.
      #expect(sent < 32 << 20, "\(sent) bytes")
    }
  }
}
