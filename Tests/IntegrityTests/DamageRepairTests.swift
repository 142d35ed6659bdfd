import Blobs
import Crypto
import Glibc
import Integrity
import Logging
import Metrics
import Model
import Platform
import Postgres
import PostgresTesting
import Store
import Testing

@Suite("Damaged blobs are noted and made again", .tags(.database))
struct DamageRepairTests {
  /// What notes and repairs in a fixture, and what it says.
  private struct Watch: Sendable {
    let fixture: IntegrityFixture
    let lines = Shared<[String]>([])
    let metrics = Metrics()

    var recorder: DamageRecorder {
      DamageRecorder(
        store: fixture.store, blobs: fixture.blobs,
        log: Logger(format: .text, lowest: .debug) { [lines] line in lines.withLock { $0.append(line) } },
        metrics: metrics)
    }

    func judge(_ text: String) async throws { try await recorder.judge(IntegrityFixture.hash(text), fixture.pool) }

    /// Looks after all of them now.
    func repair() async throws {
      try await fixture.sql("UPDATE blob_damage SET next_at = now()")
      try await DamageRepair(recorder: recorder).run(fixture.pool)
    }

    /// The kinds of what is noted.
    func kinds() async throws -> [String] {
      try await texts("SELECT kind FROM blob_damage ORDER BY kind")
    }

    func texts(_ query: Statement) async throws -> [String] {
      try await fixture.pool.run { session in try session.execute(query).map { try $0.get(0, as: String.self) } }
    }

    func said(_ text: String) -> Int { lines.withLock { $0.count { $0.contains(text) } } }
  }

  private func with(_ body: (IntegrityFixture, Watch) async throws -> Void) async throws {
    try await IntegrityFixture.with { fixture in try await body(fixture, Watch(fixture: fixture)) }
  }

  @Test("each kind is noted once, with a line that tells where it lies and whose it is, and counted")
  func noted() async throws {
    try await with { fixture, watch in
      let a = try await fixture.post("a")
      try fixture.corrupt("composed a")
      #expect(truncate(fixture.path("clip.front a"), 3) == 0)
      #expect(unlink(fixture.path("clip.back a")) == 0)
      for text in ["composed a", "clip.front a", "clip.back a", "composed a", "front a"] { try await watch.judge(text) }
      #expect(try await watch.kinds() == ["corrupt", "missing", "truncated"])
      #expect(watch.said("a blob is damaged") == 3)
      #expect(watch.said(fixture.path("composed a")) == 1 && watch.said("post \(a)") == 3)
      #expect(watch.metrics.text().contains(#"take5_blobs_damaged_total{kind="corrupt"} 1"#))
    }
  }

  @Test("a blob that lies in its row is not concerned, nor one that nobody names")
  func notConcerned() async throws {
    try await with { fixture, watch in
      try await fixture.post("a")
      try fixture.blobs.publish(fixture.seal("image a"))
      try fixture.corrupt("image a")
      try await fixture.sql("DELETE FROM asset WHERE role = 'composed'")
      try fixture.corrupt("composed a")
      for text in ["image a", "composed a", "nothing"] { try await watch.judge(text) }
      #expect(try await watch.kinds().isEmpty)
    }
  }

  @Test("while the store is away nothing is judged")
  func away() async throws {
    try await with { fixture, watch in
      try await fixture.post("a")
      #expect(rename(fixture.blobFolder, "\(fixture.blobFolder)-away") == 0)
      await #expect(throws: BlobError.self) { try await watch.judge("composed a") }
      #expect(rename("\(fixture.blobFolder)-away", fixture.blobFolder) == 0)
      #expect(try await watch.kinds().isEmpty)
      // Noted rightly, it is not given up because of that either.
      try fixture.corrupt("composed a")
      try await watch.judge("composed a")
      #expect(rename(fixture.blobFolder, "\(fixture.blobFolder)-away") == 0)
      await #expect(throws: BlobError.self) { try await watch.repair() }
      #expect(rename("\(fixture.blobFolder)-away", fixture.blobFolder) == 0)
      #expect(try await watch.texts("SELECT kind FROM blob_damage WHERE error IS NULL AND run IS NULL") == ["corrupt"])
    }
  }

  @Test("damaged outputs of a post are made again by one run, which is not begun anew while it goes on")
  func madeAgain() async throws {
    try await with { fixture, watch in
      let a = try await fixture.post("a")
      try fixture.corrupt("composed a")
      #expect(unlink(fixture.path("clip.front a")) == 0)
      for text in ["composed a", "clip.front a"] { try await watch.judge(text) }
      try await watch.repair()
      try await watch.repair()
      #expect(try await watch.texts("SELECT subject::text FROM reprocess_item") == [a.description])
      #expect(try await watch.texts("SELECT DISTINCT run::text FROM blob_damage WHERE error IS NULL").count == 1)
      // Nothing that is there was taken away for it.
      #expect(try fixture.blobs.contains(IntegrityFixture.hash("composed a")))
      try await fixture.sql("UPDATE reprocess_run SET state = 'completed', ended_at = now()")
      try await watch.repair()
      #expect(try await fixture.count("reprocess_run") == 2)
    }
  }

  @Test("of a source, and of what would be made of a damaged one, only a backup helps; that is said once")
  func lost() async throws {
    try await with { fixture, watch in
      try await fixture.post("a")
      try fixture.corrupt("front a")
      try fixture.corrupt("composed a")
      try await watch.judge("composed a")
      try await watch.repair()
      #expect(try await fixture.count("reprocess_run") == 0)
      // The source was found on the way.
      #expect(try await watch.kinds() == ["corrupt", "corrupt"])
      try await watch.repair()
      try await watch.repair()
      #expect(watch.said("cannot be made again") == 2)
      #expect(try await watch.texts("SELECT error FROM blob_damage WHERE error IS NOT NULL").count == 2)

      // A backup brings both back.
      for text in ["front a", "composed a"] {
        try Descriptor(writing: fixture.path(text), replacing: true).write(Array(text.utf8))
      }
      try await watch.repair()
      #expect(try await watch.kinds().isEmpty)
      #expect(watch.said("a damaged blob is whole again") == 2)
    }
  }

  @Test("a source that came back lets its outputs be made again")
  func sourceCameBack() async throws {
    try await with { fixture, watch in
      try await fixture.post("a")
      try fixture.corrupt("front a")
      try fixture.corrupt("composed a")
      try await watch.judge("composed a")
      try await watch.repair()
      try Descriptor(writing: fixture.path("front a"), replacing: true).write(Array("front a".utf8))
      try await watch.repair()
      #expect(try await fixture.count("reprocess_run") == 1)
      #expect(try await watch.texts("SELECT kind FROM blob_damage WHERE run IS NOT NULL AND error IS NULL").count == 1)
    }
  }

  @Test("without sources it is lost; of media that were replaced it goes")
  func others() async throws {
    try await with { fixture, watch in
      try await fixture.post("a", keepsSources: false)
      try fixture.corrupt("composed a")
      try await watch.judge("composed a")
      try await watch.repair()
      #expect(try await watch.texts("SELECT error FROM blob_damage") == ["its sources were not kept"])
      try await fixture.sql(
        """
        UPDATE asset_set SET retired_at = now() WHERE definition IS NOT NULL;
        UPDATE post SET asset_set_id = NULL, status = 'failed'
        """)
      try await watch.repair()
      try await fixture.pool.transaction { session in _ = try fixture.store.collectReleased(session) }
      #expect(try await watch.kinds().isEmpty)
      #expect(try !fixture.blobs.contains(IntegrityFixture.hash("composed a")))
    }
  }

  @Test("what was served is read to its end, and what is wrong with it is noted; the end of the task ends it")
  func scrubbed() async throws {
    try await with { fixture, watch in
      try await fixture.post("a")
      try fixture.corrupt("composed a")
      let queue = ScrubQueue()
      let isTold = OneShot<Void>()
      let recorder = DamageRecorder(
        store: fixture.store, blobs: fixture.blobs,
        log: Logger(format: .text) { line in if line.contains("a blob is damaged") { isTold.fulfil(()) } },
        metrics: watch.metrics)
      let scrubber = Scrubber(queue: queue, recorder: recorder, pool: fixture.pool)
      let scrubbing = Task { await scrubber.run() }
      for text in ["clip.front a", "composed a"] {
        queue.offer(IntegrityFixture.hash(text), bytes: Int64(text.utf8.count))
      }
      await isTold.value
      scrubbing.cancel()
      await scrubbing.value
      #expect(try await watch.kinds() == ["corrupt"])
    }
  }
}
