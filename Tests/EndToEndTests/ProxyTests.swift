import HTTPTesting
import MediaFixtures
import Platform
import Take5Testing
import Testing

/// The service behind nginx: whom it logs, and what a proxy passes on that it should not.
@Suite("Behind a proxy", .tags(.process), .serialized)
struct ProxyTests {
  @Test("the client is whom a trusted proxy names, and nobody else names one", arguments: [true, false])
  func forwardedAddress(isTrusted: Bool) async throws {
    let service = try await Service(
      workers: 0, isTrusted ? ["--trusted-proxy", "127.0.0.1"] : [], environment: ["TAKE5_API_KEY": "t5-key"])
    let nginx = try await Nginx(before: service.url)
    let port = nginx.port
    let status = try await onThread("client") {
      var connection = try ClientConnection(port: port, from: "127.0.0.2")
      // nginx adds the address that it sees to what the client claims.
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
    "requests through a proxy are refused where there is no key, and the log says what to do",
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

  @Test("events come one by one through a proxy that is told nothing of them")
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
    // Nobody works on the job: nothing ends the answer, which a proxy that gathers it would wait for.
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

  @Test("what is ambiguous gets no second answer through a proxy")
  func framing() async throws {
    let service = try await Service(workers: 0, environment: ["TAKE5_API_KEY": "t5-key"])
    let nginx = try await Nginx(before: service.url, apiKey: "t5-key")
    let port = nginx.port
    // What passes is let in: no case is refused for want of a key.
    #expect(try await request("GET", "/v1/posts", port: port).status == 200)
    for framing in FramingCase.all {
      let answers = try await onThread("client") {
        var connection = try ClientConnection(port: port)
        try? connection.send(framing.bytes)
        connection.finishSending()
        return String(decoding: connection.receiveRest(), as: UTF8.self)
      }
      #expect(answers.ranges(of: "HTTP/1.1 ").count <= 1, "\(framing): \(answers)")
      // Neither /hello nor /count is served: what nginx has made clear is refused, and nothing is ever done.
      #expect(!answers.hasPrefix("HTTP/1.1 2"), "\(framing): \(answers)")
      #expect(!answers.hasPrefix("HTTP/1.1 401") && !answers.hasPrefix("HTTP/1.1 403"), "\(framing): \(answers)")
    }
    await nginx.stop()
    try await service.stop()
  }
}
