import HTTPTesting
import MediaFixtures
import Platform
import Take5Testing
import Testing

/// The service behind nginx.
@Suite("Service behind a proxy", .tags(.process))
struct ProxyTests {
  @Test("only a trusted proxy sets the client address", arguments: [true, false])
  func forwardedAddress(isTrusted: Bool) async throws {
    let service = try await Service(
      workers: 0, isTrusted ? ["--trusted-proxy", "127.0.0.1"] : [], environment: ["TAKE5_API_KEY": "t5-key"])
    let nginx = try await Nginx(before: service.url)
    let port = nginx.port
    let status = try await onThread("client") {
      var connection = try ClientConnection(port: port, from: "127.0.0.2")
      // nginx appends the address of its client to the header that the client sends.
      try connection.send(
        "GET /v1/posts HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: 192.0.2.7\r\nAuthorization: Bearer t5-key\r\n\r\n"
      )
      return try connection.receive().status
    }
    #expect(status == 200)
    #expect(await service.process.waitForLog(isTrusted ? "client=127.0.0.2" : "client=127.0.0.1"))
    #expect(!service.process.log.contains("192.0.2.7"))
    await nginx.stop()
    try await service.stop()
  }

  @Test(
    "without an API key, requests through a proxy are refused, and the log has a hint",
    arguments: ["Forwarded: for=192.0.2.7", "X-Forwarded-For: 192.0.2.7", "Via: 1.1 proxy", "X-Real-IP: 192.0.2.7"])
  func published(field: String) async throws {
    let service = try await Service(workers: 0)
    let port = try service.api().port
    let head = "GET /v1/posts HTTP/1.1\r\nHost: localhost\r\n"
    #expect(try await exchange("\(head)\r\n", port: port).status == 200)
    #expect(try await exchange("\(head)\(field)\r\n\r\n", port: port).status == 403)
    try await service.stop()
    let lines = service.process.log.split(separator: "\n").filter { $0.contains("through a proxy") }
    #expect(lines.count == 1)
    for text in ["warning", "client=127.0.0.1", "take5 keys create", "--trusted-proxy"] {
      #expect(lines.first?.lowercased().contains(text) == true, "\(text): \(lines)")
    }
  }

  @Test("JSON is compressed for a client that accepts that, and its version still permits a change")
  func compression() async throws {
    let service = try await Service(workers: 0, environment: ["TAKE5_API_KEY": "t5-key"])
    let nginx = try await Nginx(before: service.url, apiKey: "t5-key")
    let (port, text) = (nginx.port, String(repeating: "calm ", count: 500))
    let accepts = [("Accept-Encoding", "gzip")]
    let json = [("Content-Type", "application/json")]
    let created = try await request(
      "POST", "/v1/posts", port: port, headers: json,
      body: Array(#"{"kind":"marker","author":"ada","caption":"\#(text)"}"#.utf8))
    let post = try #require(created.headers["location"])
    for path in [post, "/v1/posts", "/openapi.json"] {
      let plain = try await request("GET", path, port: port)
      #expect(
        plain.status == 200 && plain.headers["content-encoding"] == nil && plain.headers["vary"] == "Accept-Encoding")
      let compressed = try await request("GET", path, port: port, headers: accepts)
      #expect(compressed.headers["content-encoding"] == "gzip" && compressed.body.starts(with: [0x1F, 0x8B]))
      #expect(compressed.body.count < plain.body.count / 4, "\(path)")
    }
    let tag = try #require(try await request("GET", post, port: port, headers: accepts).headers["etag"])
    #expect(tag.hasPrefix("W/"))
    func change(_ tag: String) async throws -> Int {
      try await request(
        "PATCH", post, port: port, headers: json + [("If-Match", tag)], body: Array(#"{"caption":"wild"}"#.utf8)
      ).status
    }
    #expect(try await change(tag) == 200)
    #expect(try await change(tag) == 412)
    await nginx.stop()
    try await service.stop()
  }

  @Test("events pass one by one through a proxy with its default configuration")
  func events() async throws {
    let service = try await Service(workers: 0)
    let nginx = try await Nginx(before: service.url, isPlain: true)
    let (port, api) = (nginx.port, try service.api())
    let (front, back) = (
      try TemporaryFile.bytes(of: Clips.front.write()), try TemporaryFile.bytes(of: Clips.back.write())
    )
    let parts = [("kind", Array("take5".utf8)), ("author", Array("ada".utf8)), ("front", front), ("back", back)]
    let job = try #require(
      try await api.submit("/v1/posts", parts.map { (name: $0.0, bytes: $0.1) }, headers: [])["job", "url"]?.text)
    // No worker runs the job, so that the response does not end: a proxy that buffers it would send nothing.
    let event = try await onThread("client") {
      var connection = try ClientConnection(port: port)
      try connection.send("GET \(job)/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
      _ = try connection.receiveHead()
      return String(decoding: try connection.receiveChunk() ?? [], as: UTF8.self)
    }
    #expect(event.contains("event: progress"))
    await nginx.stop()
    try await service.stop()
  }

  @Test("an ambiguously framed request gets at most one response of the service through a proxy")
  func framing() async throws {
    let service = try await Service(workers: 0, environment: ["TAKE5_API_KEY": "t5-key"])
    let nginx = try await Nginx(before: service.url, apiKey: "t5-key")
    let port = nginx.port
    // The proxy adds the key, so that no case fails without one.
    #expect(try await request("GET", "/v1/posts", port: port).status == 200)
    for framing in FramingCase.all {
      let responses = try await onThread("client") {
        var connection = try ClientConnection(port: port)
        try? connection.send(framing.bytes)
        connection.finishSending()
        return String(decoding: connection.receiveRest(), as: UTF8.self)
      }
      // nginx drops fields with names it does not know how to read, and answers what follows itself, with a page of its own.
      let refusals = responses.ranges(of: "<center>nginx").count
      #expect(responses.ranges(of: "HTTP/1.1 ").count - refusals <= 1, "\(framing): \(responses)")
      // No request of the cases has a route: none succeeds, however nginx frames it.
      #expect(!responses.hasPrefix("HTTP/1.1 2"), "\(framing): \(responses)")
      #expect(!responses.hasPrefix("HTTP/1.1 401") && !responses.hasPrefix("HTTP/1.1 403"), "\(framing): \(responses)")
    }
    await nginx.stop()
    try await service.stop()
  }
}
