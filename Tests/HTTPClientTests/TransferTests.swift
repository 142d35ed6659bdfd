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
      "HTTP/1.1 104 Upload Resumption Supported\r\nETag: \"y\"\r\n\r\nHTTP/1.1 200 OK\r\netag: \"x\"\r\n"
        + "Content-Length: 11\r\n\r\nhello world",
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
    #expect(server.received.heads.first?.contains("\r\nUser-Agent: take5/") == true)
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
    #expect(error?.kind == (text.hasPrefix("SSH") ? .unreachable : .lost))
    server.stop()
  }

  @Test("a server that takes a body without asking for it gets the next one at once, and one that asks does not")
  func expectation() async throws {
    let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/body"
    try Descriptor(writing: path, replacing: true).write([UInt8](repeating: 7, count: 300))
    for (response, isHeldBack) in [("", [true, false]), ("HTTP/1.1 100 Continue\r\n\r\n", [true, true])] {
      let server = try ScriptedServer(response: response, after: 300, ok)
      let client = Self.client(server)
      try await onThread("client") {
        for _ in 0..<2 {
          let file = OpenFile(try Descriptor(reading: path))
          #expect(try client.send(HTTPRequest("PUT", "/", body: .file(file, path: path, range: 0..<300))).status == 200)
        }
      }
      #expect(server.received.heads.map { $0.contains("Expect: 100-continue") } == isHeldBack)
      server.stop()
    }
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

  @Test(
    "the address that is connected to is the one that is judged, whatever name has it",
    arguments: ["127.0.0.1", "localhost"])
  func admission(host: String) async throws {
    let server = try ScriptedServer(response: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    let client = HTTPClient(server: ServerAddress(host: host, port: server.port), usesProxies: false)
    let request = HTTPRequest("POST", "/", body: .bytes([1]))
    let judged = Locked<[IPAddress]>([])
    for isAdmitted in [false, true] {
      let response = try? await onThread("client") {
        try client.send(request, cutAt: 100, within: 10) { address in
          judged.withLock { $0.append(address) }
          return isAdmitted && address.isVersion4
        }
      }
      #expect(response?.status == (isAdmitted ? 200 : nil))
      #expect(server.received.connections == (isAdmitted ? 1 : 0))
    }
    #expect(judged.withLock { $0.contains { "\($0)" == "127.0.0.1" } && $0.allSatisfy(\.isLoopback) })
    let error = await #expect(throws: HTTPClientError.self) {
      try await onThread("client") {
        // On a connection of its own.
        try HTTPClient(server: ServerAddress(host: host, port: server.port))
          .send(request, cutAt: 100, within: 10) { _ in false }
      }
    }
    #expect(error?.cause.contains("is not public") == true && error?.stage == .admission)
    server.stop()
  }

  @Test("of a long body no more than the limit is read, and the response is none the less one")
  func cutBody() async throws {
    let server = try ScriptedServer(
      response: "HTTP/1.1 503 Busy\r\nRetry-After: 7\r\nContent-Length: 1000000\r\n\r\nhello")
    let client = Self.client(server)
    let response = try await onThread("client") {
      try client.send(HTTPRequest("POST", "/"), cutAt: 4, within: 60) { _ in true }
    }
    #expect(response.status == 503 && response.body == Array("hell".utf8))
    #expect(response.retryAfter(now: 0) == 7)
    server.stop()
  }

  @Test("where the body is cut, the head of a response is enough, and without one there is an error")
  func headAlone() async throws {
    let heads = ["Content-Length: 5\r\n\r\nhel", "Transfer-Encoding: chunked\r\n\r\nno number\r\n"]
    for response in heads.map({ "HTTP/1.1 200 OK\r\n\($0)" }) + [""] {
      let server = try ScriptedServer(response: response, closes: true)
      let client = Self.client(server)
      let status = try? await onThread("client") {
        try client.send(HTTPRequest("POST", "/"), cutAt: 100, within: 60) { _ in true }.status
      }
      #expect(status == (response.contains("200") ? 200 : nil), "\(response)")
      server.stop()
    }
  }

  @Test(
    "Retry-After is seconds or a date, never negative and at most a day",
    arguments: [
      ("120", 120), ("999999999999", 86_400), ("99999999999999999999", nil), ("-1", nil), ("soon", nil),
      ("Sun, 06 Nov 1994 08:49:37 GMT", 37), ("Sun, 06 Nov 1994 08:48:37 GMT", 0),
    ] as [(String, Int?)])
  func retryAfter(text: String, seconds: Int?) {
    let response = HTTPResponse(status: 503, headers: ["retry-after": text], body: [])
    #expect(response.retryAfter(now: 784_111_740) == seconds)
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
      return try client.send(HTTPRequest("GET", "/"), into: file)
    }
    let bytes = Array("hello".utf8)
    #expect(try Descriptor(reading: path).contents() == (status == 200 ? bytes : []))
    #expect(response.body == (status == 200 ? [] : bytes))
    server.stop()
  }

  @Test(
    "a request without a body says so where a server may insist on a length, and nowhere else",
    arguments: ["POST", "PUT", "PATCH", "GET", "HEAD", "DELETE"])
  func bodiless(method: String) async throws {
    let server = try ScriptedServer(response: "HTTP/1.1 204 No Content\r\n\r\n")
    let client = Self.client(server)
    let response = try await onThread("client") { try client.send(HTTPRequest(method, "/")) }
    #expect(response.status == 204)
    let head = try #require(server.received.heads.first)
    #expect(head.hasPrefix("\(method) / "))
    let lengths = head.split(separator: "\r\n").filter { $0.lowercased().hasPrefix("content-length:") }
    #expect(lengths == (method.hasPrefix("P") ? ["Content-Length: 0"] : []))
    #expect(!head.contains("Transfer-Encoding") && !head.contains("Expect:"))
    server.stop()
  }

  /// Returns a request with the bytes of a file from an offset.
  private static func append(_ path: String, from offset: Int64) throws -> HTTPRequest {
    let file = OpenFile(try Descriptor(reading: path))
    return HTTPRequest(
      "PATCH", "/v1/uploads/1", body: .file(file, path: path, range: offset..<(try file.descriptor.size())))
  }

  @Test("a request that is refused because of its head does not send its body")
  func refused() async throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/clip"
    try Descriptor(writing: path, replacing: true).write([UInt8](repeating: 7, count: 100_000))
    let server = try ScriptedServer(response: "HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n")
    let client = Self.client(server)
    let response = try await onThread("client") { try client.send(try Self.append(path, from: 0)) }
    #expect(response.status == 401)
    #expect(server.received.heads.count == 1 && server.received.bodyBytes == 0)
    server.stop()
  }

  @Test(
    "the bytes of a file from an offset are sent, whatever interim responses come before", arguments: [true, false])
  func part(isAnnounced: Bool) async throws {
    let folder = try TemporaryFolder()
    let path = "\(folder.path)/clip"
    try Descriptor(writing: path, replacing: true).write([UInt8](repeating: 7, count: 3_000_000))
    let interim = "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Offset: 5\r\n\r\n"
    let server = try ScriptedServer(
      response: (isAnnounced ? interim : "") + "HTTP/1.1 100 Continue\r\n\r\n" + (isAnnounced ? interim : ""),
      after: 2_000_000, "HTTP/1.1 204 No Content\r\nUpload-Offset: 3000000\r\n\r\n")
    let client = Self.client(server)
    let sent = Locked<[Int64]>([])
    let response = try await onThread("client") {
      try client.send(try Self.append(path, from: 1_000_000)) { count in
        sent.withLock { $0.append(count) }
        return true
      }
    }
    #expect(response.status == 204 && response.headers["upload-offset"] == "3000000")
    #expect(server.received.heads.first?.contains("PATCH /v1/uploads/1 HTTP/1.1\r\n") == true)
    #expect(server.received.heads.first?.contains("\r\nContent-Length: 2000000") == true)
    #expect(server.received.bodyBytes == 2_000_000)
    let reported = sent.withLock { $0 }
    #expect(reported == reported.sorted() && reported.last == 2_000_000)
    server.stop()
  }

  @Test("the body in memory is sent with its length, also if it is empty")
  func bytes() async throws {
    for body in ["", "hello"] {
      let server = try ScriptedServer(response: "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n")
      let client = Self.client(server)
      let request = HTTPRequest(
        "POST", "/v1/uploads", headers: [("Upload-Complete", "?0")], body: .bytes(Array(body.utf8)))
      #expect(try await onThread("client") { try client.send(request) }.status == 201)
      let head = try #require(server.received.heads.first)
      #expect(head.hasPrefix("POST /v1/uploads HTTP/1.1\r\n") && head.contains("\r\nUpload-Complete: ?0"))
      #expect(head.contains("\r\nContent-Length: \(body.count)") && !head.contains("Expect:"))
      server.stop()
    }
  }

  @Test("the response to HEAD has no body, whatever its Content-Length")
  func head() async throws {
    let server = try ScriptedServer(response: "HTTP/1.1 200 OK\r\nUpload-Offset: 7\r\nContent-Length: 99\r\n\r\n")
    let client = Self.client(server)
    let response = try await onThread("client") { try client.send(HTTPRequest("HEAD", "/v1/uploads/1")) }
    #expect(response.status == 200 && response.headers["upload-offset"] == "7" && response.body.isEmpty)
    server.stop()
  }

  @Test("a request ends when its caller no longer continues it")
  func aborted() async throws {
    let server = try ScriptedServer(response: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel")
    let client = Self.client(server)
    let error = await #expect(throws: HTTPClientError.self) {
      try await onThread("client") { try client.send(HTTPRequest("GET", "/")) { _ in false } }
    }
    #expect(error?.kind == .aborted)
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
        try client.send(try Self.append(path, from: 0)) { sent in
          if sent > 0 { truncate(path, 0) }
          return true
        }
      }
    }
    #expect(error?.description.contains("\(path) became shorter") == true)
    server.stop()
  }

  @Test("a request fails if the server sends nothing for the timeout")
  func silent() async throws {
    let server = try ScriptedServer(response: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel")
    let error = await #expect(throws: HTTPClientError.self) { try await Self.get(server, timeout: 1) }
    #expect(error?.description.contains("for 1 s") == true && error?.kind == .lost)
    server.stop()
  }

  @Test("a request fails within ten seconds if the server does not accept the connection")
  func unreachable() async throws {
    let server = try ScriptedServer(response: nil)
    // Linux queues one connection more than the backlog; further connections are not established.
    let waiting = try (0..<2).map { _ in try OpenFile(Self.connect(server.port)) }
    let error = await #expect(throws: HTTPClientError.self) { try await Self.get(server) }
    #expect(error?.description.contains("within 10 s") == true && error?.kind == .unreachable)
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
