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
  private let folder: TemporaryFolder
  /// The pipe of the log, full. This end stays open.
  private let pipe: OpenFile

  private static func fill(_ pipe: Int32) {
    _ = fcntl(pipe, F_SETFL, O_NONBLOCK)
    let line = [UInt8](repeating: UInt8(ascii: "\n"), count: 4096)
    while write(pipe, line, line.count) > 0 {}
  }

  init() throws {
    folder = try TemporaryFolder(prefix: "take5-unread")
    try #require(mkfifo("\(folder.path)/log", 0o600) == 0)
    let number = open("\(folder.path)/log", O_RDWR | O_NONBLOCK | O_CLOEXEC)
    pipe = OpenFile(Descriptor(owning: number))
    Self.fill(number)
    let script = "#!/bin/sh\nexec '\(Take5Binary.path)' \"$@\" 2>'\(folder.path)/log'\n"
    try Descriptor(writing: program, replacing: false, mode: 0o755).write(Array(script.utf8))
  }

  /// A program that is take5 with its log in the pipe.
  private var program: String { "\(folder.path)/unread" }

  /// Reads the log until a line contains `text`, or until it ends.
  private func read(to text: String) async throws -> String {
    let (pipe, text) = (pipe, Array(text.utf8))
    return try await onThread("log") {
      _ = fcntl(pipe.descriptor.number, F_SETFL, 0)
      var bytes: [UInt8] = []
      var chunk = [UInt8](repeating: 0, count: 1 << 16)
      var start = 0
      while true {
        let count = Glibc.read(pipe.descriptor.number, &chunk, chunk.count)
        guard count > 0 else { break }
        bytes += chunk.prefix(count)
        if !bytes[start...].ranges(of: text).isEmpty { break }
        start = max(0, bytes.count - text.count)
      }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

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
    let service = try await Service(program: program, in: folder)
    #expect(try await service.get("/livez").status == 200)
    #expect(try await Self.ready(Self.photo(service), service) == "ready")
    // The log has the path of each request.
    let path = "/v1/posts/" + String(repeating: "x", count: 4000)
    for _ in 0..<400 { _ = try await service.get(path) }
    let metrics = String(decoding: try await service.get("/metrics").body, as: UTF8.self)
    #expect(metrics.contains("\ntake5_log_lines_dropped_total "), "\(metrics)")
    let log = try await read(to: "log lines were dropped")
    #expect(log.contains("listening") && log.contains("log lines were dropped  lines="))
    Self.fill(pipe.descriptor.number)
    #expect(try await service.stop() == 0)
  }

  @Test("a worker does its jobs and ends")
  func worker() async throws {
    let service = try await Service(workers: 0)
    let worker = try RunningTake5()
    _ = try await worker.start(
      ["worker", "--data", service.data, "--log-level", "debug", "--log-format", "text"], program: program,
      printsFirstLine: false)
    #expect(try await Self.ready(Self.photo(service), service) == "ready")
    await worker.send(signal: SIGTERM)
    #expect(await worker.wait() == 0)
    try await service.stop()
  }

  @Test("a service that does not start ends, and its error is the last line")
  func failing() async throws {
    // A file is no folder for data.
    let arguments = ["serve", "--data", "\(program)/data", "--listen", "127.0.0.1:0", "--log-format", "text"]
    let service = try RunningTake5()
    #expect(try await service.start(arguments, program: program).isEmpty)
    #expect(await service.wait() == 69)
    let readable = try RunningTake5()
    #expect(try await readable.start(arguments).isEmpty)
    #expect(await readable.wait() == 69)
    #expect(readable.log.split(separator: "\n").contains { $0.hasPrefix("take5: ") }, "\(readable.log)")
  }
}
