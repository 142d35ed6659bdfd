import Glibc
import HTTPClient
import MediaFixtures
import Model
import Platform
import PostgresTesting
import Take5Testing
import Testing

/// What signals do to a service and a worker.
@Suite("Signals", .tags(.process), .serialized)
struct SignalTests {
  /// Signals that end a process by default and mean nothing to a service; without a terminal, SIGHUP too.
  private static let meaningless = [SIGHUP, SIGUSR1, SIGUSR2, SIGALRM, SIGPROF, SIGXFSZ, 34, 64]

  @Test("a service without a terminal ignores what means nothing to it, and serves")
  func ignored() async throws {
    let service = try await Service(workers: 0)
    let process = try #require(await service.process.process)
    for signal in Self.meaningless {
      #expect(kill(process, signal) == 0)
      #expect(try await service.get("/livez").status == 200, "signal \(signal)")
    }
    let worker = try await service.worker()
    #expect(await worker.waitForLog("worker started"))
    for signal in Self.meaningless { await worker.send(signal: signal) }
    await worker.send(signal: SIGTERM)
    #expect(await worker.wait() == 0)
    #expect(worker.log.contains("stopping"))
    #expect(try await service.stop() == 0)
  }

  @Test("SIGTERM may be repeated while a service ends")
  func repeated() async throws {
    let service = try await Service(workers: 1)
    let process = service.process
    let id = try #require(await process.process)
    // Sent again by the reader of the log, while the job is completed.
    await process.whenItLogs("composing") { kill($0, SIGTERM) }
    await process.whenItLogs("stopping") { _ in for _ in 0..<3 { kill(id, SIGTERM) } }
    let (front, back) = try Self.clips(in: service.folder)
    _ = try await service.submitted(front: front, back: back)
    #expect(await process.wait() == 0)
    #expect(process.log.contains("post published"), "\(process.log)")
  }

  @Test("a second SIGINT does not wait for jobs, and stops the database in order")
  func twice() async throws {
    let service = try await Service(workers: 1)
    let process = service.process
    await process.whenItLogs("composing") { kill($0, SIGINT) }
    await process.whenItLogs("stopping") { kill($0, SIGINT) }
    let (front, back) = try Self.clips(in: service.folder)
    let post = try await service.submitted(front: front, back: back).id
    #expect(await process.wait() == 130)
    #expect(!process.log.contains("post published"))
    // PostgreSQL has removed its lock file, and has not been killed.
    #expect(access("\(service.data)/postgres.url", F_OK) != 0)
    let log = String(decoding: try Service.bytes(of: "\(service.data)/postgres.log"), as: UTF8.self)
    #expect(log.hasSuffix("database system is shut down\n"), "\(log.suffix(500))")
    // The job is another process's.
    let next = try await Service(workers: 1, ["--lease", "3"], in: service.folder)
    #expect(await next.process.waitForLog("post published"), "\(next.process.log)")
    #expect(try await next.post(post).status == .ready)
    #expect(try await next.stop() == 0)
  }

  @Test("a service ends in order when its terminal closes, and goes on with nohup", arguments: [false, true])
  func terminal(ignoresHangup: Bool) async throws {
    let folder = try TemporaryFolder(prefix: "take5-terminal")
    let path = folder.path
    try #require(mkfifo("\(path)/url", 0o600) == 0)
    let terminal = try RunningTake5()
    let command =
      "echo $$ >'\(path)/id'; exec \(ignoresHangup ? "nohup " : "")'\(Take5Binary.path)' serve --data '\(path)/data' "
      + "--listen 127.0.0.1:0 --slots 0 --log-format text >'\(path)/url' 2>'\(path)/log'"
    _ = try await terminal.start(["-qc", command, "/dev/null"], program: "/usr/bin/script", printsFirstLine: false)
    let output = try await onThread("url") { OpenFile(try Descriptor(reading: "\(path)/url")) }
    let url = try await onThread("url") {
      var bytes = [UInt8](repeating: 0, count: 100)
      let count = read(output.descriptor.number, &bytes, bytes.count)
      return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
    let address = try #require(ServerAddress(url: String(url.filter { !$0.isNewline })), "\(url)")
    let client = HTTPClient(server: address)
    await terminal.send(signal: SIGKILL)
    _ = await terminal.wait()
    if ignoresHangup {
      #expect(try await onThread("client") { try client.get("/livez") }.status == 200)
      let id = String(decoding: try Service.bytes(of: "\(path)/id"), as: UTF8.self)
      kill(try #require(Int32(id.filter(\.isNumber))), SIGTERM)
    }
    // The service has the lock until it ends.
    let lock = OpenFile(try Descriptor(reading: "\(path)/data/postgres.service"))
    #expect(try await onThread("lock") { try lock.descriptor.lock(waiting: true) } == .locked)
    let log = String(decoding: try Service.bytes(of: "\(path)/log"), as: UTF8.self)
    #expect(log.contains("stopping"), "\(log)")
    let server = String(decoding: try Service.bytes(of: "\(path)/data/postgres.log"), as: UTF8.self)
    #expect(server.hasSuffix("database system is shut down\n"), "\(server.suffix(500))")
  }

  @Test("a fault ends a service at once by its signal, without a backtrace")
  func fault() async throws {
    let service = try await Service(workers: 0)
    await service.process.send(signal: SIGILL)
    #expect(await service.process.wait() == nil)
    #expect(!service.process.log.contains("acktrac"), "\(service.process.log)")
  }

  private static func clips(in folder: TemporaryFolder) throws -> (front: String, back: String) {
    (
      try Clips.write(MarkedClip(.red, width: 720, height: 1280, tone: .init(440)), "front.mp4", in: folder),
      try Clips.write(MarkedClip(.blue, width: 720, height: 1280, tone: .init(1000)), "back.mp4", in: folder)
    )
  }
}
