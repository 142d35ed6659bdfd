import HTTPTesting
import Platform
import Testing

@testable import HTTPServer

/// Tests of input that a lenient proxy could interpret differently (RFC 9112, section 11.2).
@Suite(.tags(.network), .timeLimit(.minutes(60)))
struct FramingTests {
  @Test("the content of all chunks that have arrived is one event, however short they are")
  func shortChunks() throws {
    var reader = RequestReader(limits: HeadParser.Limits())
    let text =
      "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
      + String(repeating: "1\r\na\r\n", count: 1000) + "2\r\nb"
    var bodies: [[UInt8]] = []
    var hasEnded = false
    for part in [text, "c\r\n0\r\n\r\n"] {
      Array(part.utf8).withUnsafeBytes { reader.append($0) }
      while let event = try reader.next() {
        if case .body(let bytes) = event { bodies.append(bytes) }
        if case .end = event { hasEnded = true }
      }
    }
    #expect(bodies.map(\.count) == [1001, 1] && hasEnded)
    #expect(String(decoding: bodies.joined(), as: UTF8.self) == String(repeating: "a", count: 1000) + "bc")
  }

  @Test("the reader stores only unparsed bytes of pipelined requests")
  func pipelined() throws {
    var reader = RequestReader(limits: HeadParser.Limits())
    let request = Array("GET /x HTTP/1.1\r\nHost: x\r\nX-Odd: \(String(repeating: "a", count: 3001))\r\n\r\n".utf8)
    // No piece ends at the end of a request.
    let stream = (0..<40).flatMap { _ in request }
    var count = 0
    for start in stride(from: 0, to: stream.count, by: 4096) {
      stream[start..<min(start + 4096, stream.count)].withUnsafeBytes { reader.append($0) }
      while let event = try reader.next() { if case .end = event { count += 1 } }
      #expect(reader.input.count < 12_000)
    }
    #expect(count == 40)
  }

  @Test("line breaks after a request do not start another one")
  func lineBreaks() throws {
    var reader = RequestReader(limits: HeadParser.Limits())
    Array("GET / HTTP/1.1\r\nHost: x\r\n\r\n\r\n".utf8).withUnsafeBytes { reader.append($0) }
    // Ends: with the bytes.
    while try reader.next() != nil {}
    #expect(reader.isBetweenRequests)
    Array("G".utf8).withUnsafeBytes { reader.append($0) }
    #expect(try reader.next() == nil)
    #expect(reader.isWithinHead)
  }

  static let router = Router(routes: [
    Route("GET", "/hello", admission: Route.open) { _ in Response(.ok, body: .bytes(Array("hello".utf8))) },
    Route("POST", "/count", bodyLimit: 1 << 20, admission: Route.open) { request in
      var count = 0
      for try await chunk in request.body { count += chunk.count }
      return Response(.ok, body: .bytes(Array("\(count)".utf8)))
    },
  ])

  @Test("an ambiguous request gets one problem, and the connection is closed", arguments: FramingCase.all)
  func refusesAmbiguousRequests(framing: FramingCase) async throws {
    try await withServer(router: Self.router) { server in
      let port = server.port
      let (response, rest) = try await onThread("client") {
        var connection = try ClientConnection(port: port)
        // The server may stop receiving after an early response.
        try? connection.send(framing.bytes)
        // These bytes are a second request for a parser that interprets the first one differently.
        try? connection.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
        return (try connection.receive(), connection.receiveRest())
      }
      #expect(response.status == framing.status)
      #expect(response.headers["content-type"] == "application/problem+json")
      #expect(response.headers["connection"] == "close")
      #expect(rest.isEmpty, "\(String(decoding: rest.prefix(200), as: UTF8.self))")
    }
  }

  @Test(
    "an unusual but unambiguous request is accepted",
    arguments: [
      ("\r\n\r\nGET /hello HTTP/1.1\r\nHost: x\r\n\r\n", "hello"),
      ("GET /hello HTTP/1.1\r\nHost:\t x \t\r\nX:\r\n\r\n", "hello"),
      ("GET /hello HTTP/1.0\r\n\r\n", "hello"),
      ("GET http://x:80/hello?y HTTP/1.1\r\nHost: z\r\n\r\n", "hello"),
      ("GET /hello HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", "hello"),
      ("POST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 005\r\n\r\nhello", "5"),
      (
        "POST /count HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n005;a=\"b\"\r\nhello\r\n0\r\nX: y\r\n\r\n",
        "5"
      ),
      ("POST /count HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nA\r\nhellohello\r\n00\r\n\r\n", "10"),
    ])
  func acceptsUnambiguousRequests(text: String, body: String) async throws {
    try await withServer(router: Self.router) { server in
      let response = try await HTTPTesting.exchange(text, port: server.port)
      #expect(response.status == 200)
      #expect(response.text == body)
    }
  }

  @Test("pipelined requests get responses in order")
  func pipelining() async throws {
    let requests =
      "POST /count HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
      + "GET /hello HTTP/1.1\r\nHost: x\r\n\r\nPOST /count HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi"
      + "GET /hello HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    try await withServer(router: Self.router) { server in
      let port = server.port
      let bodies = try await onThread("client") {
        var connection = try ClientConnection(port: port)
        try connection.send(requests)
        let bodies = try (0..<4).map { _ in try connection.receive().text }
        #expect(connection.receiveRest().isEmpty)
        return bodies
      }
      #expect(bodies == ["5", "hello", "2", "hello"])
    }
  }

  // MARK: Without a socket

  /// Parses requests and returns their events, with the chunks of a body joined; nil if they are refused.
  private static func read(_ pieces: [ArraySlice<UInt8>]) -> [String]? {
    var reader = RequestReader(limits: .init())
    var found: [String] = []
    for piece in pieces {
      piece.withUnsafeBytes { reader.append($0) }
      do throws(Problem) {
        while let event = try reader.next() {
          switch event {
          case .head(let head): found.append("\(head.method) \(head.target.path) \(head.headers.count { _ in true })")
          case .body(let bytes):
            if found.last?.hasPrefix("body") != true { found.append("body ") }
            found[found.count - 1] += String(decoding: bytes, as: UTF8.self)
          case .end: found.append("end")
          }
        }
      } catch {
        return nil
      }
    }
    return found
  }

  @Test("the result does not depend on the division into chunks")
  func everySplit() {
    let text = Array(
      ("POST /a HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n5;x\r\nhello\r\n3\r\nyou\r\n0\r\nX: y\r\n\r\n"
        + "GET /b HTTP/1.1\r\nHost: x\r\n\r\n\r\nPUT /c HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nbye").utf8)
    let events = ["POST /a 2", "body helloyou", "end", "GET /b 1", "end", "PUT /c 2", "body bye", "end"]
    #expect(Self.read([text[...]]) == events)
    #expect(Self.read(text.indices.map { text[$0...$0] }) == events)
    for cut in text.indices where Self.read([text[..<cut], text[cut...]]) != events { Issue.record("cut at \(cut)") }
  }

  @Test("a refused request is refused for each division into chunks", arguments: FramingCase.all)
  func everySplitOfRefusedRequests(framing: FramingCase) {
    let bytes = framing.bytes.prefix(400)
    guard Self.read([bytes]) == nil else { return }
    for cut in bytes.indices where Self.read([bytes[..<cut], bytes[cut...]]) != nil { Issue.record("cut at \(cut)") }
  }
}
