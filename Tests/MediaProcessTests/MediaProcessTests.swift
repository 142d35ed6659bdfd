import Definitions
import Glibc
import MediaFixtures
import MediaProcess
import Model
import Platform
import Testing
import WaitTesting

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

  /// Composes the clips; without an output it only probes them.
  ///
  /// - Parameter planning: runs while the child waits for the plan.
  func compose(
    _ slot: MediaProcess, into output: OpenFile?, deadline: Duration = .seconds(120),
    planning: @Sendable () throws -> Void = {}, progress: @Sendable (Double) -> Void = { _ in }
  ) async throws -> RunReport {
    try await slot.process(files, limits: definition.limits, deadline: deadline, cancellation: cancellation) {
      [definition] facts in
      try planning()
      guard let output, let front = facts[.front], let back = facts[.back] else { return nil }
      let plan = Planner(definition).plan(front: front, back: back, foreground: .front, roles: [.composed])
      return (plan, [.composed: output])
    } progress: {
      progress($0)
    }
  }

  func probe(_ slot: MediaProcess) async throws {
    let report = try await compose(slot, into: nil)
    #expect(report.verdict.verdict == .accepted && report.outputs.isEmpty)
    #expect(Set(report.verdict.inputs.keys) == [.front, .back])
  }

  @Test(
    "one child probes, waits for the plan, runs and reports progress, and the next job has another of the same server")
  func run() async throws {
    let slot = try Self.slot()
    _ = try await slot.walls(loading: .clips)
    let server = try #require(await slot.processID)
    let output = try TemporaryFile.make()
    let children = Locked<[Int32?]>([])
    let seen = Locked<[Double]>([])
    let report = try await compose(slot, into: output) {
      children.withLock { $0.append(MediaChildren.job(of: server)) }
    } progress: { fraction in
      children.withLock { $0.append(MediaChildren.job(of: server)) }
      seen.withLock { $0.append(fraction) }
    }
    #expect(report.verdict.verdict == .accepted)
    #expect(report.outputs.map(\.role) == [.composed])
    #expect(try output.descriptor.size() == report.outputs.first?.bytes)
    let progress = seen.withLock { $0 }
    #expect(!progress.isEmpty)
    #expect(progress == progress.sorted())
    let found = children.withLock(\.self)
    let child = try #require(found[0])
    #expect(Set(found) == [child])
    _ = try await compose(slot, into: nil) { #expect(MediaChildren.job(of: server) != child) }
    #expect(await slot.processID == server)
    #expect(MediaChildren.job(of: server) == nil)
    await slot.stop()
  }

  @Test("a request that cannot be sent is not laid to the media")
  func unsendable() async throws {
    let slot = try Self.slot()
    let closed = OpenFile(Descriptor(owning: -1))
    let failure = await #expect(throws: MediaFailure.self) {
      _ = try await slot.process(
        [.front: closed], limits: definition.limits, deadline: .seconds(20), cancellation: cancellation
      ) { _ in nil }
    }
    #expect(failure?.kind == .unavailable)
    try await probe(slot)
    let later = await #expect(throws: MediaFailure.self) { _ = try await compose(slot, into: closed) }
    #expect(later?.kind == .unavailable && later?.detail.contains("the request cannot be sent") == true)
    try await probe(slot)
    await slot.stop()
  }

  @Test("a clip that the probe refuses is not planned, and its reason is the verdict")
  func refused() async throws {
    let slot = try Self.slot()
    var files = files
    files[.front] = try TemporaryFile.make(Array("no clip".utf8))
    let report = try await slot.process(
      files, limits: definition.limits, deadline: .seconds(120), cancellation: cancellation
    ) { _ in
      Issue.record("a refused clip is planned")
      return nil
    }
    #expect(report.verdict.verdict == .rejected && report.outputs.isEmpty)
    #expect(report.verdict.reasons.map(\.input) == [.front])
    try await probe(slot)
    await slot.stop()
  }

  @Test("what the plan of a job throws ends its child, and is the error of the job")
  func unplanned() async throws {
    let slot = try Self.slot()
    try await probe(slot)
    let server = try #require(await slot.processID)
    await #expect(throws: SystemError(call: "plan", code: EDOM)) {
      _ = try await compose(slot, into: nil) { throw SystemError(call: "plan", code: EDOM) }
    }
    #expect(MediaChildren.job(of: server) == nil)
    try await probe(slot)
    #expect(await slot.processID == server)
    await slot.stop()
  }

  @Test("a child that ends before it has the plan ended in the probe")
  func endedWaiting() async throws {
    let slot = try Self.slot()
    try await probe(slot)
    let server = try #require(await slot.processID)
    let output = try TemporaryFile.make()
    let failure = await #expect(throws: MediaFailure.self) {
      _ = try await compose(slot, into: output) {
        guard let child = MediaChildren.job(of: server) else { return }
        kill(child, SIGSEGV)
        let deadline = Deadline("the end of the child")
        while MediaChildren.job(of: server) == child { try deadline.check() }
      }
    }
    #expect(failure?.kind == .crashed && failure?.crash?.stage == .probe, "\(String(describing: failure))")
    try await probe(slot)
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
    // The definition does not name GIF, for which the libraries would be loaded.
    #expect(try await show(PhotoFixture.photo(in: "gif")).reason?.code == .unsupportedContainer)
    #expect(try await mappedLibraries(of: slot).isDisjoint(with: ["libavcodec", "libavutil"]))
    try await probe(slot)
    #expect(try await mappedLibraries(of: slot).isSuperset(of: ["libavcodec", "libavutil"]))
    #expect(try await mappedLibraries(of: slot).isDisjoint(with: ["libcurl", "libpq"]))
    await slot.stop()
  }

  /// Makes the variants of a photo post in a child with this limit of memory; false if it is not enough.
  private func decodes(_ photo: [UInt8], memory: UInt64) async throws -> Bool {
    let slot = try Self.slot(memory: memory)
    let plan = try #require(try Definitions.photo("photo-post")).plan
    let file = try TemporaryFile.make(photo)
    let outputs = try Dictionary(uniqueKeysWithValues: plan.outputs.map { ($0, try TemporaryFile.make()) })
    var isEnough = false
    do {
      isEnough =
        try await slot.photo(
          plan, photo: file, outputs: outputs, deadline: .seconds(60), cancellation: cancellation
        ).reason == nil
    } catch {
      isEnough = false
    }
    await slot.stop()
    return isEnough
  }

  @Test("a JPEG of 208 megapixels takes the memory of one of 12")
  func largePhoto() async throws {
    let (usual, large) = (
      PhotoFixture.greyJPEG(width: 4032, height: 3024), PhotoFixture.greyJPEG(width: 16_320, height: 12_744)
    )
    var enough: UInt64?
    for memory in stride(from: UInt64(128 << 20), to: 1 << 30, by: 32 << 20) where enough == nil {
      if try await decodes(usual, memory: memory) { enough = memory }
    }
    // Rows are wider: a few dozen of them are kept.
    #expect(try await decodes(large, memory: #require(enough) + (32 << 20)))
  }

  @Test("a GIF is decoded behind the walls where a definition names the format")
  func animation() async throws {
    let slot = try Self.slot()
    var plan = try #require(try Definitions.photo("photo-post")).plan
    plan.limits.formats.append(.gif)
    let outputs = try Dictionary(uniqueKeysWithValues: plan.outputs.map { ($0, try TemporaryFile.make()) })
    let report = try await slot.photo(
      plan, photo: TemporaryFile.make(PhotoFixture.photo(in: "gif")), outputs: outputs, deadline: .seconds(60),
      cancellation: cancellation)
    #expect(report.reason == nil && report.facts?.format == .gif && report.outputs.count == outputs.count)
    await slot.stop()
  }

  @Test("the preview of a GIF is made behind the walls, also of the largest canvas; without one its file is empty")
  func preview() async throws {
    let slot = try Self.slot()
    var plan = try #require(try Definitions.photo("photo-post")).plan
    plan.limits.formats.append(.gif)
    plan.preview = PhotoPreview(longEdge: 480, quality: 60)
    for (width, images, shown) in [(64, 1, nil), (64, 3, 3), (4096, 20, 15), (4097, 2, nil)] as [(Int, Int, Int?)] {
      let image = GIFFile.Image(width: 8, height: 8) { x, _ in UInt8(x % 2) }
      let file = GIFFile(
        width: width, height: 4096, colors: [220, 30, 30, 30, 30, 220], images: Array(repeating: image, count: images))
      let outputs = try Dictionary(uniqueKeysWithValues: plan.outputs.map { ($0, try TemporaryFile.make()) })
      let report = try await slot.photo(
        plan, photo: TemporaryFile.make(file.bytes), outputs: outputs, deadline: .seconds(60),
        cancellation: cancellation)
      #expect(report.reason == nil && report.facts?.previewImages == shown, "\(width), \(images)")
      #expect(report.outputs.count == plan.variantRoles.count + (shown == nil ? 0 : 1))
      let size = try #require(outputs[.photoPreview]).descriptor.size()
      #expect((size > 0) == (shown != nil))
    }
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
      let outputs = try definition.plan.outputs.map { ($0, try TemporaryFile.make()) }
      do {
        _ = try await slot.photo(
          PhotoPlan(limits: limits, variants: definition.plan.variants), photo: photo,
          outputs: Dictionary(uniqueKeysWithValues: outputs),
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
    #expect(failure?.crash?.stage == (kind == .interrupted ? nil : .run))
    try await probe(slot)
    await slot.stop()
  }

  @Test("a process that is stopped by a signal is interrupted, not past its deadline")
  func stopped() async throws {
    let slot = try Self.slot()
    let failure = try await failure(of: slot, deadline: .seconds(5)) { process in kill(process, SIGSTOP) }
    #expect(failure?.kind == .interrupted, "\(String(describing: failure))")
    try await probe(slot)
    await slot.stop()
  }

  @Test("it is the first process that the OOM killer chooses")
  func outOfMemoryScore() async throws {
    let slot = try Self.slot()
    try await probe(slot)
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
    // Enough to load all libraries and to probe, too little for the frames.
    let slot = try Self.slot(memory: 320 << 20)
    let output = try TemporaryFile.make()
    let isPlanned = CancellationFlag()
    let failure = await #expect(throws: MediaFailure.self) {
      _ = try await compose(slot, into: output) { isPlanned.cancel() }
    }
    #expect(isPlanned.isCancelled)
    #expect(failure?.refusalCode != nil || failure?.kind == .internal, "\(String(describing: failure))")
    await slot.stop()
  }

  @Test("a process that ended while idle does not fail the next request")
  func diedIdle() async throws {
    let slot = try Self.slot()
    try await probe(slot)
    let process = try #require(await slot.processID)
    kill(process, SIGKILL)
    var information = siginfo_t()
    waitid(P_PID, id_t(process), &information, WEXITED | WNOWAIT)
    try await probe(slot)
    #expect(await slot.processID != process)
    await slot.stop()
  }

  /// Runs the plan, harms its child at the first report of progress, and returns the failure.
  private func failure(
    of slot: MediaProcess, deadline: Duration = .seconds(120), _ harm: @escaping @Sendable (Int32) -> Void
  ) async throws -> MediaFailure? {
    try await probe(slot)
    let output = try TemporaryFile.make()
    let server = try #require(await slot.processID)
    let isDone = CancellationFlag()
    return await #expect(throws: MediaFailure.self) {
      _ = try await compose(
        slot, into: output, deadline: deadline,
        progress: { _ in
          guard !isDone.isCancelled else { return }
          isDone.cancel()
          if let child = MediaChildren.job(of: server) { harm(child) }
        })
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
