import Glibc
import HTTPTesting
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

@Suite("Concurrent clients", .tags(.process), .serialized, .timeLimit(.minutes(60)))
struct ConcurrentClientsTests {
  private static let clients = 500

  @Test("a thousand waiting clients are notified when the job ends, with one database connection and little memory")
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
    let clients = try await onThread("clients") { try WaitingClients(port: api.port, job: job, count: Self.clients) }
    #expect(try await service.count("SELECT count(*)::int FROM pg_stat_activity WHERE query LIKE 'LISTEN%'") == before)
    #expect(before == 1)

    let process = try #require(await service.process.process)
    let status = try Descriptor(reading: "/proc/\(process)/status").bytes(count: 8192, at: 0)
    let memory = String(decoding: status, as: UTF8.self).split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
    let kilobytes = try #require(memory?.split(separator: " ").compactMap { Int($0) }.first)
    #expect(kilobytes < 200_000)

    #expect(try await Take5Command.run(["jobs", "cancel", id, "--data", service.data]).status == 0)
    let messages = try await onThread("clients") { try clients.lastMessages() }
    #expect(messages.count == 2 * Self.clients)
    #expect(messages.allSatisfy { $0.contains(#""state":"cancelled""#) })
    let exit = try await service.stop()
    #expect(exit == 0, "\(service.process.log.suffix(4000))")
  }

  @Test("an event stream sends each step once, also after a reconnection")
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
    let repeated = try await api.get(path)
    #expect(String(decoding: repeated.response.body, as: UTF8.self).contains("event: end\n"))
    let resumed = try await api.get(path, [("Last-Event-ID", String(try #require(ids.last).dropFirst(4)))])
    #expect(resumed.status == 200 && resumed.response.body.isEmpty)
    let metrics = String(decoding: try await api.get("/metrics").response.body, as: UTF8.self)
    for line in [
      #"take5_http_requests_total{method="GET",route="/v1/jobs/{id}/events",status="200"} 3"#,
      #"take5_jobs_total{kind="post",outcome="accepted"} 1"#,
      #"take5_stage_duration_seconds_count{kind="post",stage="fetch"} 1"#,
      #"take5_stage_duration_seconds_count{kind="post",stage="compose"} 1"#,
      #"take5_stage_duration_seconds_count{kind="post",stage="commit"} 1"#,
      #"take5_time_to_ready_seconds_count{kind="post"} 1"#,
      #"take5_submissions_total{kind="take5"} 1"#,
    ] { #expect(metrics.contains(line + "\n"), "\(line)") }
    #expect(try await service.stop() == 0)
  }
}

/// Clients that wait for one job: half with an event stream and half with a long poll.
private final class WaitingClients: Sendable {
  private final class Client: @unchecked Sendable {
    // Used by one thread at a time: first the one that creates it, then the one that reads.
    var connection: ClientConnection

    init(port: UInt16, path: String) throws {
      connection = try ClientConnection(port: port)
      try connection.send("GET \(path) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }
  }

  private let streams: [Client]
  private let polls: [Client]

  /// Connects all clients and waits for the first event of each stream.
  init(port: UInt16, job: String, count: Int) throws {
    polls = try (0..<count).map { _ in try Client(port: port, path: job + "?wait=60") }
    streams = try (0..<count).map { _ in try Client(port: port, path: job + "/events") }
    for stream in streams {
      _ = try stream.connection.receiveHead()
      let event = String(decoding: try stream.connection.receiveChunk() ?? [], as: UTF8.self)
      guard event.contains("event: progress") else { throw ClientConnection.Failure.malformed(event) }
    }
  }

  /// Waits for the end of the job and returns the last message of each client.
  func lastMessages() throws -> [String] {
    let events = try streams.map { stream in
      var last: [UInt8] = []
      let deadline = Deadline("the end of the job")
      while let chunk = try stream.connection.receiveChunk() {
        try deadline.check()
        last = chunk
      }
      return String(decoding: last, as: UTF8.self)
    }
    let responses = try polls.map { String(decoding: try $0.connection.receive().body, as: UTF8.self) }
    return events + responses
  }
}

@Suite("Refused clients", .tags(.process), .serialized)
struct RefusedClientsTests {
  @Test("metrics and the log report which client exceeds which limit")
  func limits() async throws {
    let service = try await Service(workers: 0, ["--address-connections", "2"])
    let port = try service.api().port
    let metrics = try await onThread("client") {
      // Two connections with a request in progress: idle connections would be closed to make room.
      let upload =
        "POST /v1/posts HTTP/1.1\r\nHost: localhost\r\nContent-Type: multipart/form-data; boundary=x\r\n"
        + "Content-Length: 100\r\nExpect: 100-continue\r\n\r\n"
      var first = try ClientConnection(port: port)
      var second = try ClientConnection(port: port)
      try first.send(upload)
      try second.send(upload)
      _ = (try first.receiveHead(), try second.receiveHead())
      var third = try ClientConnection(port: port)
      #expect(try third.receive().status == 429)
      var other = try ClientConnection(port: port, from: "127.0.0.2")
      try other.send("GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
      let response = try other.receive().text
      first.finishSending()
      second.finishSending()
      return response.split(separator: "\n").map(String.init)
    }
    for line in [
      #"take5_http_refused_total{limit="address"} 1"#, "take5_http_connections 3", "take5_http_streams 0",
    ] { #expect(metrics.contains(line), "\(line)") }
    #expect(metrics.contains { $0.hasPrefix("take5_http_requests_in_flight ") })
    #expect(await service.process.waitForLog("limit exceeded"))
    let line = service.process.log.split(separator: "\n").first { $0.contains("limit exceeded") }
    #expect(line?.contains("limit=address") == true && line?.contains("client=127.0.0.1") == true)
    try await service.stop()
  }
}
