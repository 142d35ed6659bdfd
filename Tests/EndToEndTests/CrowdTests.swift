import Glibc
import HTTPTesting
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

@Suite("A thousand who wait", .tags(.process), .serialized, .timeLimit(.minutes(10)))
struct CrowdTests {
  private static let clients = 500

  @Test("each is woken once the job ends, for one connection to the database and little memory")
  func waiting() async throws {
    ThisProcess.raiseOpenFilesLimit()
    let service = try await Service(workers: 0)
    let api = try service.api()
    let front = try TemporaryFile.bytes(of: Clips.front.write())
    let back = try TemporaryFile.bytes(of: Clips.back.write())
    let post = try await api.submit(
      "/v1/posts", [("front", front), ("back", back), ("post", Array(#"{"author":"ada"}"#.utf8))], headers: [])
    let job = try #require(post["job", "url"]?.text)
    let id = try #require(post["job", "id"]?.text)
    let before = try await service.count("SELECT count(*)::int FROM pg_stat_activity WHERE query LIKE 'LISTEN%'")
    let crowd = try await onThread("crowd") { try Crowd(port: api.port, job: job, count: Self.clients) }
    #expect(try await service.count("SELECT count(*)::int FROM pg_stat_activity WHERE query LIKE 'LISTEN%'") == before)
    #expect(before == 1)

    let process = try #require(await service.process.process)
    let status = try Descriptor(reading: "/proc/\(process)/status").bytes(count: 8192, at: 0)
    let memory = String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    let kilobytes = try #require(memory?.split(separator: " ").compactMap { Int($0) }.first)
    #expect(kilobytes < 200_000)

    #expect(try await Take5Command.run(["jobs", "cancel", id, "--data", service.data]).status == 0)
    let ends = try await onThread("crowd") { try crowd.ends() }
    #expect(ends.count == 2 * Self.clients)
    #expect(ends.allSatisfy { $0.contains(#""state":"cancelled""#) })
    let exit = try await service.stop()
    #expect(exit == 0, "\(service.process.log.suffix(4000))")
  }

  @Test("a stream of events tells each step once, also to who comes back")
  func events() async throws {
    let service = try await Service(workers: 1)
    let api = try service.api()
    let front = try TemporaryFile.bytes(of: Clips.front.write())
    let back = try TemporaryFile.bytes(of: Clips.back.write())
    let post = try await api.submit(
      "/v1/posts", [("front", front), ("back", back), ("post", Array(#"{"author":"ada"}"#.utf8))], headers: [])
    let path = try #require(post["job", "url"]?.text) + "/events"
    let text = String(decoding: try await api.get(path).response.body, as: UTF8.self)
    let events = text.split(separator: "\n\n").filter { !$0.hasPrefix(":") }
    let last = try #require(events.last)
    #expect(last.contains("event: end\n") && last.contains(#""state":"completed""#))
    let ids = events.compactMap { $0.split(separator: "\n").first { $0.hasPrefix("id: ") } }
    #expect(ids.count == events.count && Set(ids).count == ids.count)
    let again = try await api.get(path)
    #expect(String(decoding: again.response.body, as: UTF8.self).contains("event: end\n"))
    let known = try await api.get(path, [("Last-Event-ID", String(try #require(ids.last).dropFirst(4)))])
    #expect(known.status == 200 && known.response.body.isEmpty)
    let metrics = String(decoding: try await api.get("/metrics").response.body, as: UTF8.self)
    for line in [
      #"take5_http_requests_total{method="GET",route="/v1/jobs/{id}/events",status="200"} 3"#,
      #"take5_jobs_total{kind="post",outcome="accepted"} 1"#,
      #"take5_stage_duration_seconds_count{kind="post",stage="compose"} 1"#,
      #"take5_submissions_total{kind="take5"} 1"#,
    ] { #expect(metrics.contains(line + "\n"), "\(line)") }
    #expect(try await service.stop() == 0)
  }
}

/// Many clients that wait for one job, half of them for events and half for one answer.
private final class Crowd: Sendable {
  private final class Client: @unchecked Sendable {
    // One thread at a time uses it: that which makes it, and then that which reads it.
    var connection: ClientConnection

    init(port: UInt16, path: String) throws {
      connection = try ClientConnection(port: port)
      try connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }
  }

  private let streams: [Client]
  private let waiters: [Client]

  /// Lets them begin; each stream has told where the job stands.
  init(port: UInt16, job: String, count: Int) throws {
    waiters = try (0..<count).map { _ in try Client(port: port, path: job + "?wait=60") }
    streams = try (0..<count).map { _ in try Client(port: port, path: job + "/events") }
    for stream in streams {
      _ = try stream.connection.receiveHead()
      let event = String(decoding: try stream.connection.receiveChunk() ?? [], as: UTF8.self)
      guard event.contains("event: progress") else { throw ClientConnection.Failure.malformed(event) }
    }
  }

  /// What each heard last.
  func ends() throws -> [String] {
    let events = try streams.map { stream in
      var last: [UInt8] = []
      while let chunk = try stream.connection.receiveChunk() { last = chunk }
      return String(decoding: last, as: UTF8.self)
    }
    let answers = try waiters.map { String(decoding: try $0.connection.receive().body, as: UTF8.self) }
    return events + answers
  }
}
