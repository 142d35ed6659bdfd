import Glibc
import HTTPClient
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

/// Services whose log goes to a pipe that is full and has no reader: that of a stopped log shipper, or of a paused terminal.
@Suite("A log that is not read", .tags(.process), .serialized)
struct UnreadLogTests {
  private let log: UnreadLog

  init() throws { log = try UnreadLog() }

  private static func photo(_ service: Service) async throws -> PhotoServiceTests.Media {
    let photo = try PhotoFixture.jpeg(PhotoFixture.quarters(width: 64, height: 48))
    let response = try await service.send(
      "/v1/posts", [("photo", photo), ("post", Array(#"{"kind":"photo","author":"ada"}"#.utf8))])
    #expect(response.status == 202)
    return try JSON.decode(PhotoServiceTests.Media.self, from: response.body)
  }

  /// Waits for the job of a post.
  private static func ready(_ post: PhotoServiceTests.Media, _ service: Service) async throws -> String {
    let job = try #require(post.job).id
    _ = try await service.get("/v1/jobs/\(job)?wait=60")
    let response = try await service.get("/v1/posts/\(post.id)")
    return try JSON.decode(PhotoServiceTests.Media.self, from: response.body).status
  }

  @Test("a service starts, answers, does its jobs and ends; the lines that were dropped are counted")
  func service() async throws {
    let service = try await Service(program: log.program, in: log.folder)
    #expect(try await service.get("/livez").status == 200)
    #expect(try await Self.ready(Self.photo(service), service) == "ready")
    // The log has the beginning of the path of each request.
    let path = "/v1/posts/" + String(repeating: "x", count: 4000)
    for _ in 0..<5000 { _ = try await service.get(path) }
    let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
    #expect(metrics.contains("\ntake5_log_lines_dropped_total "), "\(metrics)")
    let text = try await log.read(to: "log lines were dropped")
    #expect(text.contains("listening") && text.contains("log lines were dropped  lines="))
    log.fill()
    #expect(try await service.stop() == 0)
  }

  @Test("a worker does its jobs and ends")
  func worker() async throws {
    let service = try await Service(workers: 0)
    let worker = try RunningTake5()
    _ = try await worker.start(
      ["worker", "--data", service.data, "--log-level", "debug", "--log-format", "text"], program: log.program,
      printsFirstLine: false)
    #expect(try await Self.ready(Self.photo(service), service) == "ready")
    await worker.send(signal: SIGTERM)
    #expect(await worker.wait() == 0)
    try await service.stop()
  }

  @Test("a service that does not start ends, and its error is the last line")
  func failing() async throws {
    // A file is no folder for data.
    let arguments = ["serve", "--data", "\(log.program)/data", "--listen", "127.0.0.1:0", "--log-format", "text"]
    let service = try RunningTake5()
    #expect(try await service.start(arguments, program: log.program).isEmpty)
    #expect(await service.wait() == 69)
    let readable = try RunningTake5()
    #expect(try await readable.start(arguments).isEmpty)
    #expect(await readable.wait() == 69)
    #expect(readable.log.split(separator: "\n").contains { $0.hasPrefix("take5: ") }, "\(readable.log)")
  }
}
