import Crypto
import FoundationEssentials
import Glibc
import HTTPTesting
import MediaFixtures
import Platform
import PostgresTesting
import Take5Testing
import Testing
import WaitTesting

/// `take5 submit` on a link that drops, through a proxy that cuts it.
@Suite("take5 submit on a link that drops", .tags(.process), .timeLimit(.minutes(60)))
struct ResumedSubmissionTests {
  private static let clipBytes = 2 << 20
  private let folder: TemporaryFolder
  private let clips: [String]

  init() throws {
    let folder = try TemporaryFolder(prefix: "take5-drops")
    self.folder = folder
    clips = try [("front.mp4", Clips.front), ("back.mp4", Clips.back)].map { name, clip in
      let bytes = try TemporaryFile.bytes(of: clip.write())
      return try Clips.write(Clips.padded(bytes, by: Self.clipBytes - bytes.count, filler: 7), name, in: folder)
    }
  }

  private func submit(
    _ proxy: CuttingProxy, _ more: [String] = [], _ environment: [String: String] = [:]
  ) async throws -> Take5Command {
    try await Take5Command.run(
      ["submit", "post", "--author", "me"] + clips + ["--server", proxy.url] + more, environment: environment)
  }

  /// Expects that the store has both clips, and a number of posts.
  private func expectStored(posts: Int, _ service: Service) async throws {
    // The response to the last byte does not wait for the job.
    try await until { try await service.count("SELECT count(*)::int FROM job") >= posts }
    #expect(try await service.count("SELECT count(*)::int FROM post") == posts)
    for clip in clips {
      let hash = SHA256.digest(of: try Descriptor(reading: clip).contents())
      #expect(try await service.count("SELECT count(*)::int FROM blob WHERE hash = '\\x\(hash)'") == 1)
    }
  }

  @Test("what has arrived is not sent again, and each submission is one post, wherever the connection is cut")
  func cuts() async throws {
    let service = try await Service(workers: 0, in: folder)
    let port = try service.api().port
    var random = SeededRandom(state: 24)
    let proxies = try (0..<4).map { _ in
      let places = (0..<6).map { _ in Int(random.next() % UInt64(2 * Self.clipBytes)) }
      return try CuttingProxy(before: port, cuts: places.sorted())
    }
    try await withThrowingTaskGroup { group in
      for proxy in proxies {
        group.addTask {
          let run = try await submit(proxy)
          #expect(run.status == 0 && run.errors.contains("take5: connection lost"), "\(run.errors)")
          #expect(proxy.remainingCuts == 0)
          #expect(Double(proxy.forwarded) <= 1.05 * Double(2 * Self.clipBytes), "\(proxy.forwarded)")
        }
      }
      try await group.waitForAll()
    }
    try await expectStored(posts: proxies.count, service)
    proxies.forEach { $0.stop() }
    try await service.stop()
  }

  @Test("a request whose response is lost is repeated, and there is one post")
  func lostResponses() async throws {
    let service = try await Service(workers: 0, in: folder)
    let port = try service.api().port
    // Of the creation, of the last bytes, and of the submission.
    let texts = ["HTTP/1.1 201", "Upload-Complete: ?1", "HTTP/1.1 202"]
    for text in texts {
      let proxy = try CuttingProxy(before: port, losing: text)
      let run = try await submit(proxy)
      #expect(run.status == 0 && proxy.remainingCuts == 0, "\(text): \(run.errors)")
      #expect(Double(proxy.forwarded) <= 1.05 * Double(2 * Self.clipBytes), "\(text): \(proxy.forwarded)")
      proxy.stop()
    }
    try await expectStored(posts: texts.count, service)
    try await service.stop()
  }

  @Test("a refusal of the file whose response is lost is reported with its reason")
  func lostRefusal() async throws {
    let service = try await Service(workers: 0, in: folder)
    let photo = try Clips.write(
      Array(repeating: Array("no photo at all, and much of it".utf8), count: 10_000).flatMap(\.self), "broken.jpg",
      in: folder)
    let proxy = try CuttingProxy(before: try service.api().port, losing: "HTTP/1.1 422")
    let run = try await Take5Command.run(["submit", "photo", photo, "--author", "me", "--server", proxy.url])
    #expect(run.status == 65 && (run.errors + run.output).contains("unsupported_"), "\(run.errors)\(run.output)")
    #expect(proxy.remainingCuts == 0)
    proxy.stop()
    #expect(try await service.count("SELECT count(*)::int FROM job") == 0)
    try await service.stop()
  }

  /// The number of bytes in the files of uploads.
  private static func uploaded(to service: Service) throws -> Int {
    let folder = service.data + "/blobs/uploads"
    return try FileManager.default.contentsOfDirectory(atPath: folder).filter { !$0.hasSuffix(".json") }
      .map { try FileManager.default.attributesOfItem(atPath: "\(folder)/\($0)")[.size] as? Int ?? 0 }.reduce(0, +)
  }

  @Test("a service that is killed in the middle gets only the rest after its restart")
  func killed() async throws {
    let service = try await Service(workers: 0, in: folder)
    let proxy = try CuttingProxy(before: try service.api().port, cuts: [Self.clipBytes * 3 / 2], holdsAtLast: true)
    async let run = submit(proxy)
    await proxy.untilHeld()
    // What the proxy has forwarded is in buffers of the system before it is in the file of the upload; a kill loses those.
    try await until { try Self.uploaded(to: service) >= Self.clipBytes * 3 / 2 - (64 << 10) }
    await service.process.send(signal: SIGKILL)
    _ = await service.process.wait()
    let restarted = try await Service(workers: 0, in: folder)
    proxy.release(before: try restarted.api().port)
    let ended = try await run
    #expect(ended.status == 0 && ended.output.contains("is processing"), "\(ended.errors)")
    #expect(ended.errors.contains("take5: connection lost at 3.") && ended.errors.contains("take5: going on at 3."))
    #expect(Double(proxy.forwarded) <= 1.05 * Double(2 * Self.clipBytes), "\(proxy.forwarded)")
    try await expectStored(posts: 1, restarted)
    proxy.stop()
    try await restarted.stop()
  }

  @Test("what the service refuses because of its fields or its key costs no byte of a file")
  func refused() async throws {
    let service = try await Service(workers: 0, environment: ["TAKE5_API_KEY": "t5-key"], in: folder)
    let proxy = try CuttingProxy(before: try service.api().port)
    let refusals: [(arguments: [String], key: String, text: String)] = [
      (["--author", String(repeating: "a", count: 1000)], "t5-key", "author"), ([], "t5-other", "API key"),
    ]
    for refusal in refusals {
      let run = try await submit(proxy, refusal.arguments, ["TAKE5_API_KEY": refusal.key])
      #expect(run.status == 64 && run.errors.contains(refusal.text), "\(run.errors)")
      #expect(run.errors.split(separator: "\n").count == 2, "\(run.errors)")
    }
    #expect(proxy.forwarded < 10_000)
    #expect(try await service.count("SELECT count(*)::int FROM post") == 0)
    proxy.stop()
    try await service.stop()
  }

  @Test("it tries again until --give-up-after, then status 69 says why; a signal ends it in any case")
  func givingUp() async throws {
    let service = try await Service(workers: 0, in: folder)
    func proxy() throws -> CuttingProxy {
      try CuttingProxy(before: try service.api().port, cuts: [Self.clipBytes], holdsAtLast: true)
    }
    let (limited, unlimited) = (try proxy(), try proxy())
    let run = try await submit(limited, ["--give-up-after", "1"])
    #expect(run.status == 69 && run.errors.contains("take5: gave up after"), "\(run.errors)")
    #expect(run.errors.contains("--give-up-after") && run.output.isEmpty)
    let running = try RunningTake5()
    _ = try await running.start(
      ["submit", "post", "--author", "me"] + clips + ["--server", unlimited.url], printsFirstLine: false)
    #expect(await running.waitForLog("take5: connection lost"))
    await running.send(signal: SIGINT)
    #expect(await running.wait() == 130)
    #expect(running.log.contains("take5: interrupted"))
    for proxy in [limited, unlimited] { proxy.stop() }
    #expect(try await service.count("SELECT count(*)::int FROM post WHERE status = 'ready'") == 0)
    try await service.stop()
  }

  @Test("a terminal shows the bytes that have been sent, and where a lost connection goes on")
  func terminal() async throws {
    let service = try await Service(workers: 0, in: folder)
    let proxy = try CuttingProxy(before: try service.api().port, cuts: [Self.clipBytes])
    let columns = 70
    let command =
      "stty cols \(columns); '\(Take5Binary.path)' submit post \(clips.joined(separator: " ")) --author me --server \(proxy.url)"
    let shown = try await onThread("test-terminal") { () throws -> String in
      let output = try Descriptor(unnamedIn: "/tmp")
      var configuration = ChildProcess.Configuration(
        path: "/usr/bin/script", arguments: ["--quiet", "--return", "--command", command, "/dev/null"])
      configuration.environment = ["PATH": "/usr/bin:/bin", "TERM": "xterm"]
      configuration.directory = "/"
      configuration.descriptors = [nil, output.number, output.number]
      #expect(try ChildProcess(configuration).wait() == .exited(0))
      return String(decoding: try output.contents(), as: UTF8.self)
    }
    let lines = shown.split(whereSeparator: { $0 == "\r" || $0.isNewline }).map { $0.replacing("\u{1B}[K", with: "") }
    let bars = lines.filter { $0.hasPrefix("sending  ") }
    #expect(!bars.isEmpty && bars.allSatisfy { $0.count < columns && $0.contains(" %  ") }, "\(bars)")
    #expect(bars.contains { $0.contains(" of 4.2 MB") }, "\(bars)")
    let lost = lines.first { $0.hasPrefix("take5: connection lost at ") }
    #expect(lost?.contains("; retry in 1 s: ") == true, "\(lines)")
    #expect(lines.contains { $0.hasPrefix("take5: going on at 2.1 of 4.2 MB") }, "\(lines)")
    #expect(bars.contains { $0.contains("connection lost, retry in 1 s") }, "\(bars)")
    proxy.stop()
    try await service.stop()
  }
}
