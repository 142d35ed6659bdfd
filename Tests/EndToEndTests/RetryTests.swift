import Glibc
import HTTPClient
import HTTPTesting
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

@Suite("Retries of submissions", .tags(.process), .serialized, .timeLimit(.minutes(60)))
struct RetryTests {
  private static let submissions = 100

  @Test("submissions repeated with the same idempotency key make one post, even if the service is killed")
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
      // The connection is reset once or twice, somewhere between the first byte and the response.
      for _ in 0...Int(random.next() % 2) {
        let count = random.next() % 4 == 0 ? Int(random.next() % UInt64(bytes.count)) : bytes.count
        let timeout = Int32(random.next() % 12)
        try await onThread("client") { [port] in
          let client = try ClientConnection(port: port)
          try client.send(Array(bytes.prefix(count)))
          // The client does not read the response, which may arrive within this time.
          _ = client.isReadable(within: timeout)
          client.reset()
        }
        if random.next() % 8 == 0 {
          await server.send(signal: SIGKILL)
          _ = await server.wait()
          (server, port) = try await start(folder)
        }
      }
      var response: ClientResponse
      let deadline = Deadline("no conflict")
      repeat {
        try deadline.check()
        response = try await onThread("client") { [port] in
          var client = try ClientConnection(port: port)
          try client.send(bytes)
          return try client.receive()
        }
      } while response.status == 409
      #expect(response.status == 202, "\(number): \(String(decoding: response.body, as: UTF8.self))")
    }
    let api = API(port: port)
    var captions: [String] = []
    var cursor: String? = ""
    let deadline = Deadline("the last page")
    while let now = cursor {
      try deadline.check()
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
      "serve", "--listen", "127.0.0.1:0", "--slots", "0", "--data", "\(folder.path)/data", "--log-format", "text",
      // On a fast machine the attempts of a minute are more than an author may send.
      "--author-submissions", "1000000",
    ])
    return (server, try #require(UInt16(url.split(separator: ":").last ?? ""), "\(server.log)"))
  }
}

/// A pseudorandom sequence with a seed.
struct SeededRandom {
  var state: UInt64

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return state >> 33
  }
}

@Suite("Concurrent uploads", .tags(.process), .serialized)
struct UploadTests {
  @Test("50 uploads of 2 x 10 MB get 50 responses with less than 150 MiB of memory")
  func fifty() async throws {
    let service = try await Service(workers: 0)
    let clip = try TemporaryFile.bytes(of: Clips.front.write())
    let size = 10_000_000
    let noise = try Descriptor(reading: "/dev/urandom").bytes(count: size, at: 0)
    // Every second pair is random bytes; the others are valid clips, padded to the size.
    var pairs: [(front: String, back: String, status: Int)] = []
    for number in 0..<50 {
      let isClip = number % 2 == 0
      let front = isClip ? Clips.padded(clip, by: size - clip.count, filler: UInt8(number)) : noise
      let back = isClip ? Clips.padded(clip, by: size - clip.count, filler: UInt8(100 + number)) : noise
      pairs.append(
        (
          try Clips.write(front, "front\(number).mp4", in: service.folder),
          try Clips.write(back, "back\(number).mp4", in: service.folder), isClip ? 202 : 422
        ))
    }
    let wrong = try await withThrowingTaskGroup(of: Bool.self) { group in
      for pair in pairs {
        group.addTask { try await service.submit(front: pair.front, back: pair.back).status != pair.status }
      }
      return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(wrong == 0)
    let peak = try #require(await service.process.peakMemory())
    #expect(peak < 150 << 20, "\(peak >> 20) MiB")
    #expect(try await service.count("SELECT count(*) FROM post") == 25)
    #expect(try service.blobFiles() == 50)
    try await service.stop()
  }
}
