import Definitions
import Glibc
import MediaFixtures
import MediaProcess
import Model
import Platform
import Testing

@Suite("The media process", .serialized)
struct MediaProcessTests {
  static let front = MarkedClip(.red, width: 1080, height: 1920, tone: .init(440))
  static let back = MarkedClip(.blue, width: 1080, height: 1920, tone: .init(1000))

  let definition: Definition
  let files: [InputName: OpenFile]
  let cancellation = CancellationFlag()

  init() throws {
    definition = try Definitions.take5Post()
    files = [.front: try Self.front.write(), .back: try Self.back.write()]
  }

  static func slot(memory: UInt64 = 2 << 30) throws -> MediaProcess {
    try MediaProcess(
      name: "test-media",
      configuration: MediaProcess.Configuration(memoryLimit: memory))
  }

  func plan(_ slot: MediaProcess) async throws -> Plan {
    let report = try await slot.probe(
      files, limits: definition.limits, deadline: .seconds(60), cancellation: cancellation)
    #expect(report.reasons.isEmpty)
    let (front, back) = (try #require(report.facts[.front]), try #require(report.facts[.back]))
    return Planner(definition).plan(front: front, back: back, foreground: .front, roles: [.composed])
  }

  @Test("it probes, runs and reports progress, in children of the same server")
  func run() async throws {
    let slot = try Self.slot()
    let plan = try await plan(slot)
    let output = try Descriptor(unnamedIn: "/tmp")
    let seen = Locked<[Double]>([])
    let report = try await slot.run(
      plan, inputs: files, outputs: [.composed: output.number], deadline: .seconds(120), cancellation: cancellation
    ) { fraction in seen.withLock { $0.append(fraction) } }
    #expect(report.verdict.verdict == .accepted)
    #expect(report.outputs.map(\.role) == [.composed])
    #expect(try output.size() == report.outputs.first?.bytes)
    let progress = seen.withLock { $0 }
    #expect(!progress.isEmpty)
    #expect(progress == progress.sorted())
    let before = await slot.processID
    _ = try await self.plan(slot)
    #expect(await slot.processID == before)
    await slot.stop()
  }

  @Test("a request that cannot be sent is not laid to the media")
  func unsendable() async throws {
    let slot = try Self.slot()
    let failure = await #expect(throws: MediaFailure.self) {
      try await slot.probe(
        [.front: OpenFile(Descriptor(owning: -1))], limits: definition.limits, deadline: .seconds(20),
        cancellation: cancellation)
    }
    #expect(failure?.kind == .unavailable)
    _ = try await plan(slot)
    await slot.stop()
  }

  @Test(
    "it loads FFmpeg's libraries for the first clip, and libheif for the first HEIF, not for a JPEG and its walls",
    .enabled(if: geteuid() == 0, "only root can read the mappings of a process that cannot be traced"))
  func libraries() async throws {
    let slot = try Self.slot()
    let limits = try #require(try Definitions.photo("reaction")).limits
    func show(_ bytes: [UInt8]) async throws -> PhotoReport {
      let photo = try OpenFile(Descriptor(unnamedIn: "/tmp"))
      try photo.descriptor.write(bytes)
      return try await slot.photo(
        PhotoPlan(limits: limits, variants: [:]), photo: photo, outputs: [:], deadline: .seconds(60),
        cancellation: cancellation)
    }
    #expect(try await slot.walls(loading: .linked).contains(where: \.isUp))
    let server = await slot.processID
    let report = try await show(PhotoFixture.jpeg(PhotoFixture.quarters(width: 64, height: 48)))
    #expect(report.facts?.display == Size(width: 64, height: 48))
    #expect(await slot.processID == server)
    let mapped = try await mappedLibraries(of: slot)
    #expect(mapped.contains("libjpeg") && mapped.isDisjoint(with: ["libavcodec", "libavutil", "libheif", "libpq"]))
    _ = try await show(PhotoFixture.photo(in: "heic"))
    #expect(try await mappedLibraries(of: slot).contains("libheif"))
    _ = try await plan(slot)
    #expect(try await mappedLibraries(of: slot).isSuperset(of: ["libavcodec", "libavutil"]))
    #expect(try await mappedLibraries(of: slot).isDisjoint(with: ["libcurl", "libpq"]))
    await slot.stop()
  }

  @Test("a thousand damaged photos neither crash a child nor leave anything in the server")
  func damagedPhotos() async throws {
    let slot = try Self.slot()
    let definition = try #require(try Definitions.photo("reaction"))
    var limits = definition.limits
    limits.pixels = 1 << 20
    let photos = try PhotoFixture.formats.map { try PhotoFixture.photo(in: $0) }
    var process: Int32?
    var before = 0
    for number in 0..<1200 {
      let photo = OpenFile(try Descriptor(unnamedIn: "/tmp"))
      try photo.descriptor.write(PhotoFixture.damaged(photos[number % photos.count], seed: UInt64(number)))
      let outputs = try definition.plan.outputs.map { (role: $0, file: OpenFile(try Descriptor(unnamedIn: "/tmp"))) }
      defer { withExtendedLifetime(outputs) {} }
      do {
        _ = try await slot.photo(
          PhotoPlan(limits: limits, variants: definition.plan.variants), photo: photo,
          outputs: Dictionary(uniqueKeysWithValues: outputs.map { ($0.role, $0.file.descriptor.number) }),
          deadline: .seconds(60), cancellation: cancellation)
      } catch {
        // A library cannot allocate the size in a damaged header.
        #expect(error.kind == .memoryLimitExceeded, "\(number): \(error)")
      }
      // By then libheif is loaded.
      if number == 100 { (process, before) = (await slot.processID, try await memory(of: slot)) }
    }
    #expect(await slot.processID == process)
    let after = try await memory(of: slot)
    #expect(after < before + (2 << 20))
    await slot.stop()
  }

  /// The anonymous resident memory of the process, in bytes.
  private func memory(of slot: MediaProcess) async throws -> Int {
    let process = try #require(await slot.processID)
    let status = String(
      decoding: try Descriptor(reading: "/proc/\(process)/status").bytes(count: 8192, at: 0), as: UTF8.self)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") })
    return try #require(line.split(separator: " ").compactMap { Int($0) }.first) << 10
  }

  private func mappedLibraries(of slot: MediaProcess) async throws -> Set<String> {
    let process = try #require(await slot.processID)
    let maps = try Descriptor(reading: "/proc/\(process)/maps").bytes(count: 1 << 20, at: 0)
    let files = String(decoding: maps, as: UTF8.self).split(separator: "\n").compactMap {
      $0.split(separator: "/").last
    }
    return Set(files.compactMap { $0.split(separator: ".").first.map(String.init) })
  }

  @Test(
    "a killed child fails one request, and the next request has another one",
    arguments: [
      (SIGKILL, MediaFailure.Kind.interrupted), (SIGSEGV, .crashed), (SIGBUS, .crashed), (SIGABRT, .crashed),
    ])
  func killed(_ signal: Int32, _ kind: MediaFailure.Kind) async throws {
    let slot = try Self.slot()
    let failure = try await failure(of: slot) { process in kill(process, signal) }
    #expect(failure?.kind == kind, "\(String(describing: failure))")
    #expect((failure?.crash?.signal == nil) == (kind == .interrupted))
    _ = try await plan(slot)
    await slot.stop()
  }

  @Test("a process that is stopped by a signal is interrupted, not past its deadline")
  func stopped() async throws {
    let slot = try Self.slot()
    let failure = try await failure(of: slot, deadline: .seconds(2)) { process in kill(process, SIGSTOP) }
    #expect(failure?.kind == .interrupted, "\(String(describing: failure))")
    _ = try await plan(slot)
    await slot.stop()
  }

  @Test("it is the first process that the OOM killer chooses")
  func outOfMemoryScore() async throws {
    let slot = try Self.slot()
    _ = try await plan(slot)
    let process = try #require(await slot.processID)
    #expect(KernelFile.read("/proc/\(process)/oom_score_adj") == "1000\n")
    await slot.stop()
  }

  @Test("a cancelled run fails as cancelled")
  func cancelled() async throws {
    let slot = try Self.slot()
    let failure = try await failure(of: slot) { [cancellation] _ in cancellation.cancel() }
    #expect(failure?.kind == .cancelled)
    await slot.stop()
  }

  @Test("a run that exceeds the memory limit fails")
  func memory() async throws {
    let probing = try Self.slot()
    let plan = try await plan(probing)
    await probing.stop()
    // Enough to load all libraries, too little for the frames.
    let slot = try Self.slot(memory: 320 << 20)
    let output = try Descriptor(unnamedIn: "/tmp")
    let failure = await #expect(throws: MediaFailure.self) {
      _ = try await slot.run(
        plan, inputs: files, outputs: [.composed: output.number], deadline: .seconds(120), cancellation: cancellation
      ) { _ in }
    }
    #expect(failure?.refusalCode != nil || failure?.kind == .internal, "\(String(describing: failure))")
    await slot.stop()
  }

  @Test("a process that ended while idle does not fail the next request")
  func diedIdle() async throws {
    let slot = try Self.slot()
    _ = try await plan(slot)
    let process = try #require(await slot.processID)
    kill(process, SIGKILL)
    var information = siginfo_t()
    waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT)
    _ = try await plan(slot)
    #expect(await slot.processID != process)
    await slot.stop()
  }

  /// Runs the plan, harms its child at the first report of progress, and returns the failure.
  private func failure(
    of slot: MediaProcess, deadline: Duration = .seconds(120), _ harm: @escaping @Sendable (Int32) -> Void
  ) async throws -> MediaFailure? {
    let plan = try await plan(slot)
    let output = try Descriptor(unnamedIn: "/tmp")
    let server = try #require(await slot.processID)
    let isDone = CancellationFlag()
    return await #expect(throws: MediaFailure.self) {
      _ = try await slot.run(
        plan, inputs: files, outputs: [.composed: output.number], deadline: deadline, cancellation: cancellation
      ) { _ in
        guard !isDone.isCancelled else { return }
        isDone.cancel()
        if let child = MediaChildren.job(of: server) { harm(child) }
      }
    }
  }
}

/// The processes of a fork server, from proc(5).
enum MediaChildren {
  /// The child that does a job; nil if there is none.
  static func job(of server: Int32) -> Int32? {
    let children = KernelFile.read("/proc/\(server)/task/\(server)/children") ?? ""
    return children.split(separator: " ").compactMap { Int32($0) }.first { child in
      KernelFile.read("/proc/\(child)/comm") != "take5-init\n"
    }
  }
}
