import Glibc
import MediaFixtures
import MediaProcess
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Store
import Telemetry
import Testing
import WaitTesting

@testable import Worker

/// A slot whose children attack if the photo is not a JPEG: then its media process is `hostile-media`, which reads the
/// name of the attack in the photo, and otherwise `take5-media`.
private struct AttackedSlot: MediaRunner {
  let honest: MediaProcess
  let hostile: MediaProcess

  init(_ number: Int) throws {
    honest = try MediaProcess(name: "honest-\(number)", configuration: .init())
    var configuration = MediaProcess.Configuration(
      executable: try ThisProcess.folder() + "/hostile-media", memoryLimit: 512 << 20)
    configuration.fileSizeLimit = 4 << 20
    hostile = try MediaProcess(name: "hostile-\(number)", configuration: configuration)
  }

  func libraryVersions() async throws(MediaFailure) -> [String: String] { try await honest.libraryVersions() }

  func process(
    _ clips: [InputName: OpenFile], limits: Limits, mode: ExecutionMode, deadline: Duration,
    cancellation: CancellationFlag, plan: @Sendable ([InputName: ClipFacts]) throws -> (Plan, [Role: OpenFile])?,
    progress: @Sendable (Double) -> Void
  ) async throws -> RunReport {
    try await honest.process(
      clips, limits: limits, mode: mode, deadline: deadline, cancellation: cancellation, plan: plan, progress: progress)
  }

  func photo(
    _ plan: PhotoPlan, photo: OpenFile, outputs: [Role: OpenFile], deadline: Duration, cancellation: CancellationFlag
  ) async throws(MediaFailure) -> PhotoReport {
    var start: [UInt8] = [0, 0]
    pread(photo.descriptor.number, &start, start.count, 0)
    return try await (start == [0xFF, 0xD8] ? honest : hostile).photo(
      plan, photo: photo, outputs: outputs, deadline: deadline, cancellation: cancellation)
  }

  func stop() async {
    await honest.stop()
    await hostile.stop()
  }
}

@Suite("Workers with hostile media", .tags(.database), .serialized, .timeLimit(.minutes(60)))
struct HostileMediaTests {
  /// The attack of a child, and what becomes of its post: rejected with a reason, or failed.
  struct Case: Sendable {
    let attack: String
    let code: ReasonCode?
    var deadlineSeconds = 60
  }

  static let cases = [
    // Ended by a signal.
    Case(attack: "segfault", code: .decoderCrashed), Case(attack: "abort", code: .decoderCrashed),
    Case(attack: "openat", code: .decoderCrashed), Case(attack: "socket", code: .decoderCrashed),
    Case(attack: "kill-all", code: .decoderCrashed), Case(attack: "ptrace", code: .decoderCrashed),
    Case(attack: "file", code: .decoderCrashed),
    // Ended at the deadline.
    Case(attack: "sleep", code: .deadlineExceeded, deadlineSeconds: 1),
    // Lies, and ends without a reply.
    Case(attack: "role", code: nil), Case(attack: "thousand", code: nil), Case(attack: "malformed", code: nil),
    Case(attack: "claim", code: nil), Case(attack: "100mb", code: nil), Case(attack: "memory", code: nil),
    Case(attack: "exit", code: nil),
  ]

  private static func photo(_ width: Int) throws -> [UInt8] {
    try PhotoFixture.jpeg(PhotoFixture.quarters(width: width, height: 48))
  }

  /// Runs a worker with two slots while `body` runs; a job that still runs then is released.
  private func withWorker(
    _ fixture: WorkerFixture, _ body: (CancellationFlag) async throws -> Void
  ) async throws {
    let slots = [try AttackedSlot(1), try AttackedSlot(2)]
    let worker = QueueWorker(
      configuration: QueueWorkerConfiguration(
        lease: .seconds(60), reapInterval: .milliseconds(50), pollInterval: .milliseconds(50),
        drain: .milliseconds(100)),
      database: fixture.url, pool: fixture.pool,
      consumers: [
        ConsumerConfiguration(
          queue: PostJob.queue, slots: 2, handler: fixture.handler(slots[0], slots[1], slots: 2))
      ],
      log: WorkerFixture.log, metrics: fixture.metrics)
    let hasEnded = CancellationFlag()
    let running = Task {
      defer { hasEnded.cancel() }
      try await worker.run()
    }
    do {
      try await body(hasEnded)
    } catch {
      worker.stop()
      throw error
    }
    #expect(!hasEnded.isCancelled)
    worker.stop()
    try await running.value
    for slot in slots { await slot.stop() }
  }

  /// Waits until no job of these posts can run any more; jobs that wait for another attempt get it at once.
  private func finish(_ posts: [PublicID], _ fixture: WorkerFixture, _ hasEnded: CancellationFlag) async throws {
    let deadline = Deadline("the end of all jobs")
    while !hasEnded.isCancelled {
      try deadline.check()
      var isDone = true
      for post in posts where try await fixture.post(post).status == .processing { isDone = false }
      if isDone { return }
      try await fixture.pool.run { session in
        try session.execute("UPDATE job SET run_at = clock_timestamp() WHERE state = 's'")
        _ = try JobQueue.promote(session)
      }
    }
  }

  @Test("each attack ends its job with the right code, and the worker and the other jobs go on")
  func attacks() async throws {
    try await WorkerFixture.with { fixture in
      try await withWorker(fixture) { hasEnded in
        var (hostile, honest): ([PublicID], [PublicID]) = ([], [])
        for (index, example) in Self.cases.enumerated() {
          hostile.append(
            try await fixture.submit(
              photos: [Array(example.attack.utf8)], attempts: 2, deadlineSeconds: example.deadlineSeconds))
          honest.append(try await fixture.submit(photos: [Self.photo(64 + index)], attempts: 1))
        }
        try await finish(hostile + honest, fixture, hasEnded)
        for (example, post) in zip(Self.cases, hostile) {
          let found = try await fixture.post(post)
          #expect(found.status == (example.code == nil ? .failed : .rejected), "\(example)")
          #expect(found.reasons.map(\.code) == [example.code].compactMap { $0 }, "\(example)")
          #expect(found.job?.state == (example.code == nil ? .dead : .completed), "\(example)")
        }
        for post in honest { #expect(try await fixture.post(post).status == .ready) }
        #expect(try await fixture.quarantined().count == Self.cases.count { $0.code != nil })
      }
      #expect(fixture.outcomes["accepted"] == Self.cases.count)
    }
  }

  @Test("jobs are done next to a child that does not end, and a worker that stops releases its job")
  func neighbour() async throws {
    try await WorkerFixture.with { fixture in
      let sleeping = try await fixture.submit(photos: [Array("sleep".utf8)], deadlineSeconds: 600)
      try await withWorker(fixture) { hasEnded in
        try await until { try await fixture.post(sleeping).job?.state == .executing || hasEnded.isCancelled }
        var honest: [PublicID] = []
        for index in 0..<4 { honest.append(try await fixture.submit(photos: [Self.photo(64 + index)], attempts: 1)) }
        try await finish(honest, fixture, hasEnded)
        for post in honest { #expect(try await fixture.post(post).status == .ready) }
        #expect(try await fixture.post(sleeping).job?.state == .executing)
      }
      #expect(try await fixture.post(sleeping).job?.state == .available)
      #expect(try await fixture.quarantined().isEmpty)
    }
  }
}
