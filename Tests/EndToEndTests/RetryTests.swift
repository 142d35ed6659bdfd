import Glibc
import HTTPTesting
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("Clients that are cut off and come again", .tags(.process), .serialized, .timeLimit(.minutes(10)))
struct RetryTests {
  private static let submissions = 100

  @Test("with the same key they make one post each, whatever dies in between")
  func once() async throws {
    let folder = try TemporaryFolder(prefix: "take5-retry")
    var random = SeededRandom(state: 2026)
    var (server, port) = try await start(folder)
    for number in 0..<Self.submissions {
      let photo = try PhotoFixture.jpeg(
        PhotoFixture.image(width: 16, height: 16) { x, _ in (UInt8(number), UInt8(x), 7) })
      let form = API.form([
        ("photo", photo), ("post", Array(#"{"kind":"photo","author":"ada","caption":"\#(number)"}"#.utf8)),
      ])
      let head =
        "POST /v1/posts HTTP/1.1\r\nHost: localhost\r\nContent-Type: \(form.contentType)\r\n"
        + "Idempotency-Key: \"key-\(number)\"\r\nContent-Length: \(form.bytes.count)\r\n\r\n"
      let bytes = Array(head.utf8) + form.bytes
      // Cut off somewhere between the first byte and the answer, once or twice.
      for _ in 0...Int(random.next() % 2) {
        let count = random.next() % 4 == 0 ? Int(random.next() % UInt64(bytes.count)) : bytes.count
        let timeout = Int32(random.next() % 12)
        try await onThread("client") { [port] in
          let client = try ClientConnection(port: port)
          try client.send(Array(bytes.prefix(count)))
          // The answer may come within this time, or not: the client does not read it.
          _ = client.hears(within: timeout)
          client.reset()
        }
        if random.next() % 8 == 0 {
          await server.send(signal: SIGKILL)
          _ = await server.wait()
          (server, port) = try await start(folder)
        }
      }
      var answer: ClientResponse
      repeat {
        answer = try await onThread("client") { [port] in
          var client = try ClientConnection(port: port)
          try client.send(bytes)
          return try client.receive()
        }
      } while answer.status == 409
      #expect(answer.status == 202, "\(number): \(String(decoding: answer.body, as: UTF8.self))")
    }
    let api = API(port: port)
    var captions: [String] = []
    var cursor: String? = ""
    while let now = cursor {
      let query = "author=ada&status=processing&limit=30" + (now.isEmpty ? "" : "&cursor=\(now)")
      let page = try await api.get("/v1/posts?" + query)
      captions += (page["items"]?.items ?? []).compactMap { $0["caption"]?.text }
      cursor = page["next"]?.text
    }
    #expect(captions.count == Self.submissions)
    #expect(Set(captions).count == Self.submissions)
    await server.send(signal: SIGTERM)
    #expect(await server.wait() == 0)
  }

  private func start(_ folder: TemporaryFolder) async throws -> (RunningTake5, UInt16) {
    let server = try RunningTake5()
    let url = try await server.start([
      "serve", "--listen", "127.0.0.1:0", "--workers", "0", "--data", "\(folder.path)/data", "--log-format", "text",
    ])
    return (server, try #require(UInt16(url.split(separator: ":").last ?? ""), "\(server.log)"))
  }
}

/// A sequence of numbers that a seed decides.
private struct SeededRandom {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state >> 33
  }
}
