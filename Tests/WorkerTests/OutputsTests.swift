import BlobTesting
import Blobs
import Integrity
import Model
import Platform
import Queue
import Store
import Testing

@testable import Worker

@Suite("What an attempt reads and stores", .tags(.database), .timeLimit(.minutes(60)))
struct OutputsTests {
  /// Lets the first of several threads wait for the second.
  private final class Meeting: Sendable {
    private let gate: Gate
    private let present = Locked(0)

    init() throws { gate = try Gate() }

    var count: Int { present.withLock(\.self) }

    func attend() {
      let number = present.withLock { present in
        present += 1
        return present
      }
      if number == 1 { gate.wait() } else { gate.open() }
    }
  }

  @Test(
    "sources are opened at the same time, and outputs sealed and published: each waits for a disk, or for another machine"
  )
  func atOnce() async throws {
    try await WorkerFixture.with { fixture in
      let (opening, preparing, publishing) = (try Meeting(), try Meeting(), try Meeting())
      var blobs = ObservedBlobStore(fixture.blobs)
      blobs.onOpen = { _ in opening.attend() }
      blobs.onPrepare = { _ in preparing.attend() }
      blobs.onPublish = { _ in publishing.attend() }
      let post = try await fixture.submitMoment()
      let handler = MediaHandler(
        free: FreeSlots([FakeMedia(bytes: 300_000)]), slots: 1, pool: fixture.pool,
        store: Store(blobs: blobs, rooms: fixture.store.rooms), blobs: blobs,
        damages: DamageRecorder(blobs: blobs, log: WorkerFixture.log, metrics: fixture.metrics), clock: fixture.clock)
      let held = try await fixture.claim()
      #expect(await handler.handle(held, isAlone: true, log: WorkerFixture.log) == .healthy)
      let shown = try await fixture.post(post)
      #expect(shown.status == .ready)
      #expect(opening.count == 2)
      #expect(preparing.count > 2 && publishing.count == preparing.count)
    }
  }
}
