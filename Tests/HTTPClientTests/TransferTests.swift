import Glibc
import HTTPClient
import Platform
import PostgresTesting
import Testing

@Suite("requests with libcurl", .tags(.network))
struct TransferTests {
  private static func client(_ server: ScriptedServer, timeout: Int = 60) -> HTTPClient {
    HTTPClient(server: ServerAddress(host: "127.0.0.1", port: server.port), apiKey: "t5-key", timeout: timeout)
  }

  private static func get(_ server: ScriptedServer, timeout: Int = 60) async throws -> HTTPResponse {
    try await onThread("client") { try client(server, timeout: timeout).get("/v1/posts") }
  }

  @Test(
    "a body with Content-Length, in chunks or until the end of the connection is received; header names ignore case",
    arguments: [
      "HTTP/1.1 200 OK\r\nETag: \"x\"\r\nContent-LENGTH: 11\r\n\r\nhello world",
      "HTTP/1.1 200 OK\r\netag:  \"x\"\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n",
      "HTTP/1.1 100 Continue\r\nETag: \"y\"\r\n\r\nHTTP/1.1 200 OK\r\nETAG: \"x\"\r\nConnection: close\r\n\r\nhello world",
    ])
  func body(text: String) async throws {
    let server = try ScriptedServer(response: text, closes: true)
    let response = try await Self.get(server)
    #expect(response.status == 200)
    #expect(response.headers["etag"] == "\"x\"")
    #expect(response.body == Array("hello world".utf8))
    #expect(
      server.received.heads.first?.hasPrefix("GET /v1/posts HTTP/1.1\r\nHost: 127.0.0.1:\(server.port)\r\n") == true)
    #expect(server.received.heads.first?.contains("\r\nAuthorization: Bearer t5-key") == true)
    server.stop()
  }

  @Test(
    "a truncated response, or one that is not HTTP, is an error that names the server",
    arguments: [
      "", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "SSH-2.0-x\r\n\r\n",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
    ])
  func cut(text: String) async throws {
    let server = try ScriptedServer(response: text, closes: true)
    let error = await #expect(throws: HTTPClientError.self) { try await Self.get(server) }
    #expect(error?.description.contains("http://127.0.0.1:\(server.port) ") == true)
    server.stop()
  }

  @Test("a redirect is returned and not followed")
  func redirect() async throws {
    let target = try ScriptedServer(response: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    let location = "http://127.0.0.1:\(target.port)/"
    let server = try ScriptedServer(
      response: "HTTP/1.1 307 Temporary Redirect\r\nLocation: \(location)\r\nContent-Length: 0\r\n\r\n")
    let response = try await Self.get(server)
    #expect(response.status == 307)
    #expect(response.headers["location"] == location)
    #expect(target.received.connections == 0)
    for server in [server, target] { server.stop() }
  }

  @Test(
    "a body that is too long, or that takes too long, is an error", arguments: [(5, nil), (4, "longer than 4 bytes")])
  func limits(bytes: Int, error: String?) async throws {
    for head in ["Content-Length: 5\r\n\r\nhello", "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"] {
      let server = try ScriptedServer(response: "HTTP/1.1 200 OK\r\n\(head)")
      let client = Self.client(server)
      var found: String?
      do {
        let response = try await onThread("client") { try client.get("/", maxBytes: bytes, within: 60) }
        #expect(response.body == Array("hello".utf8))
      } catch {
        found = "\(error)"
      }
      #expect(found.map { $0.contains(error ?? "no error") } ?? (error == nil))
      server.stop()
    }
    let silent = try ScriptedServer(response: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel")
    let client = Self.client(silent)
    await #expect(throws: HTTPClientError.self) {
      try await onThread("client") { try client.get("/", maxBytes: bytes, within: 1) }
    }
    silent.stop()
  }

  @Test("consecutive requests share a connection; the client reconnects after the server closes it")
  func connections() async throws {
    let open = try ScriptedServer(response: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    let closed = try ScriptedServer(response: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", closes: true)
    for (server, connections) in [(open, 1), (closed, 3)] {
      let client = Self.client(server)
      for _ in 0..<3 { #expect(try await onThread("client") { try client.get("/") }.status == 200) }
      #expect(server.received.connections == connections)
      server.stop()
    }
  }

  @Test("a body is written to the file if the status is 200", arguments: [200, 404])
  func file(status: Int) async throws {
    let folder = try TemporaryFolder()
    let server = try ScriptedServer(response: "HTTP/1.1 \(status) X\r\nContent-Length: 5\r\n\r\nhello")
    let path = "\(folder.path)/body"
    let client = Self.client(server)
    let response = try await onThread("client") {
      let file = try Descriptor(writing: path, replacing: true)
      return try client.get("/", into: file)
    }
    let bytes = Array("hello".utf8)
    #expect(try Descriptor(reading: path).contents() == (status == 200 ? bytes : []))
    #expect(response.body == (status == 200 ? [] : bytes))
    server.stop()
  }

  @Test("a request that is refused because of its head does not send its body")
  func refused() async throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/clip"
    try Descriptor(writing: path, replacing: true).write([UInt8](repeating: 7, count: 100_000))
    let server = try ScriptedServer(response: "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
    let client = Self.client(server)
    let response = try await onThread("client") {
      try client.post("/", form: [try FormPart(name: "front", path: path, type: "video/mp4")]) { _, _ in }
    }
    #expect(response.status == 401)
    #expect(server.received.heads.count == 1 && server.received.bodyBytes == 0)
    server.stop()
  }

  @Test("the error for a file that becomes shorter while it is sent names the file")
  func shorter() async throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/clip"
    try Descriptor(writing: path, replacing: true).write([UInt8](repeating: 7, count: 32 << 20))
    let server = try ScriptedServer(response: "HTTP/1.1 100 Continue\r\n\r\n")
    let client = Self.client(server)
    let error = await #expect(throws: HTTPClientError.self) {
      try await onThread("client") {
        let form = [try FormPart(name: "front", path: path, type: "video/mp4")]
        return try client.post("/", form: form) { sent, _ in if sent > 0 { truncate(path, 0) } }
      }
    }
    #expect(error?.description.contains("\(path) became shorter") == true)
    server.stop()
  }

  @Test("a request fails if the server sends nothing for the timeout")
  func silent() async throws {
    let server = try ScriptedServer(response: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel")
    let error = await #expect(throws: HTTPClientError.self) { try await Self.get(server, timeout: 1) }
    #expect(error?.description.contains("for 1 s") == true)
    server.stop()
  }

  @Test("a request fails within ten seconds if the server does not accept the connection")
  func unreachable() async throws {
    let server = try ScriptedServer(response: nil)
    // Linux queues one connection more than the backlog; further connections are not established.
    let waiting = try (0..<2).map { _ in try OpenFile(Self.connect(server.port)) }
    let error = await #expect(throws: HTTPClientError.self) { try await Self.get(server) }
    #expect(error?.description.contains("within 10 s") == true)
    withExtendedLifetime(waiting) {}
    server.stop()
  }

  /// Starts a connection without waiting until it is established.
  private static func connect(_ port: UInt16) throws -> Descriptor {
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
    guard number >= 0 else { throw SystemError(call: "socket") }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    withUnsafeBytes(of: &address) { bytes in
      let pointer = bytes.baseAddress!.assumingMemoryBound(to: sockaddr.self)
      _ = Glibc.connect(number, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
    }
    return Descriptor(owning: number)
  }
}

extension Tag {
  /// Uses sockets.
  @Tag static var network: Self
}
