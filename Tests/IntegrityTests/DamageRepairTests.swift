import Blobs
import Crypto
import Glibc
import Integrity
import Model
import Platform
import Postgres
import PostgresTesting
import Store
import Telemetry
import Testing

@Suite("Recording and repair of damaged blobs", .tags(.database))
struct DamageRepairTests {
  /// A recorder and a repair for a fixture, with their log and metrics.
  private struct Monitor: Sendable {
    let fixture: IntegrityFixture
    let lines = Shared<[String]>([])
    let metrics = Metrics()

    var recorder: DamageRecorder {
      DamageRecorder(
        blobs: fixture.blobs,
        log: Logger(format: .text, lowest: .debug) { [lines] line in lines.withLock { $0.append(line) } },
        metrics: metrics)
    }

    func check(_ text: String) async throws { try await recorder.check(IntegrityFixture.hash(text), fixture.pool) }

    /// Runs the repair for all damaged blobs.
    func repair() async throws {
      try await fixture.sql("UPDATE blob_damage SET next_at = now()")
      try await DamageRepair(recorder: recorder, store: fixture.store).run(fixture.pool)
    }

    /// Reads the kinds of the recorded damage.
    func kinds() async throws -> [String] {
      try await texts("SELECT kind FROM blob_damage ORDER BY kind")
    }

    func texts(_ query: Statement) async throws -> [String] {
      try await fixture.pool.run { session in try session.execute(query).map { try $0.get(0, as: String.self) } }
    }

    /// Counts the log lines that contain a text.
    func logged(_ text: String) -> Int { lines.withLock { $0.count { $0.contains(text) } } }
  }

  private func with(_ body: (IntegrityFixture, Monitor) async throws -> Void) async throws {
    try await IntegrityFixture.with { fixture in try await body(fixture, Monitor(fixture: fixture)) }
  }

  @Test("each damaged blob is recorded, counted and logged once, with its location and its subjects")
  func recorded() async throws {
    try await with { fixture, monitor in
      let a = try await fixture.post("a")
      try fixture.corrupt("composed a")
      #expect(truncate(fixture.path("clip.front a"), 3) == 0)
      #expect(unlink(fixture.path("clip.back a")) == 0)
      for text in ["composed a", "clip.front a", "clip.back a", "composed a", "front a"] {
        try await monitor.check(text)
      }
      #expect(try await monitor.kinds() == ["corrupt", "missing", "truncated"])
      #expect(monitor.logged("a blob is damaged") == 3)
      #expect(monitor.logged(fixture.path("composed a")) == 1 && monitor.logged("post \(a)") == 3)
      #expect(monitor.metrics.text().contains(#"take5_blobs_damaged_total{kind="corrupt"} 1"#))
    }
  }

  @Test("a damaged blob with a value that cannot be read is set aside, and the others are made again")
  func setAside() async throws {
    try await with { fixture, monitor in
      for text in ["a", "b"] {
        _ = try await fixture.post(text)
        #expect(unlink(fixture.path("composed \(text)")) == 0)
        try await monitor.check("composed \(text)")
      }
      let hash = IntegrityFixture.hash("composed a").hex
      // As a later version may write it.
      try await fixture.sql("UPDATE asset SET role = 'composed.later' WHERE blob = '\\x\(hash)'")
      try await monitor.repair()
      #expect(
        try await monitor.texts(
          "SELECT encode(hash, 'hex') FROM blob_damage WHERE run IS NULL AND next_at > now() + interval '55 minutes'")
          == [hash])
      #expect(try await monitor.texts("SELECT state FROM reprocess_run") == ["running"])
      #expect(try await monitor.texts("SELECT row_key FROM row_set_aside WHERE relation = 'blob_damage'") == [hash])
    }
  }

  @Test("damaged content of a row is recorded, and the outputs are made again, which replaces it")
  func inline() async throws {
    try await with { fixture, monitor in
      let a = try await fixture.post("a")
      let hash = IntegrityFixture.hash("image a")
      try await fixture.sql("UPDATE blob SET inline_content = 'imag_ a' WHERE hash = '\\x\(hash.hex)'")
      let found = try #require(try await fixture.post(a).assets[.image])
      let stored = try await fixture.pool.run {
        try Assets.find(found.id, for: .unrestricted, $0)
      }
      #expect(stored?.inline == nil && stored?.damage?.kind == .corrupt && stored?.damage?.isRecorded == false)
      try await monitor.check("image a")
      #expect(try await monitor.kinds() == ["corrupt"] && monitor.logged("post \(a)") == 1)
      try await monitor.repair()
      #expect(try await monitor.texts("SELECT subject::text FROM reprocess_item") == [a.description])
      // The run publishes the same bytes again.
      try await fixture.remake(a, "a")
      #expect(try await fixture.codes().isEmpty)
      try await fixture.sql("UPDATE reprocess_run SET state = 'completed', ended_at = now()")
      try await monitor.repair()
      #expect(try await monitor.kinds().isEmpty)
    }
  }

  @Test("damaged content of a row beside an intact file is cleared")
  func inlineBesideFile() async throws {
    try await with { fixture, monitor in
      try await fixture.post("a")
      try fixture.blobs.publish(fixture.seal("image a"))
      let hash = IntegrityFixture.hash("image a")
      try await fixture.sql("UPDATE blob SET inline_content = 'imag_ a' WHERE hash = '\\x\(hash.hex)'")
      try await monitor.check("image a")
      try await monitor.repair()
      #expect(try await monitor.kinds().isEmpty)
      #expect(try await fixture.count("reprocess_run") == 0)
      #expect(try await fixture.codes().isEmpty)
    }
  }

  @Test("neither a blob with inline content nor an unreferenced one is recorded")
  func notRecorded() async throws {
    try await with { fixture, monitor in
      try await fixture.post("a")
      try fixture.blobs.publish(fixture.seal("image a"))
      try fixture.corrupt("image a")
      try await fixture.sql("DELETE FROM asset WHERE role = 'composed'")
      try fixture.corrupt("composed a")
      for text in ["image a", "composed a", "nothing"] { try await monitor.check(text) }
      #expect(try await monitor.kinds().isEmpty)
    }
  }

  @Test("no damage is recorded while the blob store is not available")
  func away() async throws {
    try await with { fixture, monitor in
      try await fixture.post("a")
      #expect(rename(fixture.blobFolder, "\(fixture.blobFolder)-away") == 0)
      await #expect(throws: BlobError.self) { try await monitor.check("composed a") }
      #expect(rename("\(fixture.blobFolder)-away", fixture.blobFolder) == 0)
      #expect(try await monitor.kinds().isEmpty)
      // Recorded damage is not marked as lost either.
      try fixture.corrupt("composed a")
      try await monitor.check("composed a")
      #expect(rename(fixture.blobFolder, "\(fixture.blobFolder)-away") == 0)
      await #expect(throws: BlobError.self) { try await monitor.repair() }
      #expect(rename("\(fixture.blobFolder)-away", fixture.blobFolder) == 0)
      #expect(
        try await monitor.texts("SELECT kind FROM blob_damage WHERE error IS NULL AND run IS NULL") == ["corrupt"])
    }
  }

  @Test("one run makes the damaged outputs of a post again, and no second run starts while it is active")
  func madeAgain() async throws {
    try await with { fixture, monitor in
      let a = try await fixture.post("a")
      try fixture.corrupt("composed a")
      #expect(unlink(fixture.path("clip.front a")) == 0)
      for text in ["composed a", "clip.front a"] { try await monitor.check(text) }
      try await monitor.repair()
      try await monitor.repair()
      #expect(try await monitor.texts("SELECT subject::text FROM reprocess_item") == [a.description])
      #expect(try await monitor.texts("SELECT DISTINCT run::text FROM blob_damage WHERE error IS NULL").count == 1)
      // The damaged files stay.
      #expect(try fixture.blobs.contains(IntegrityFixture.hash("composed a")))
      try await fixture.sql("UPDATE reprocess_run SET state = 'completed', ended_at = now()")
      try await monitor.repair()
      #expect(try await fixture.count("reprocess_run") == 2)
    }
  }

  @Test("a damaged source, and outputs with a damaged source, need a backup; the error is logged once")
  func lost() async throws {
    try await with { fixture, monitor in
      try await fixture.post("a")
      try fixture.corrupt("front a")
      try fixture.corrupt("composed a")
      try await monitor.check("composed a")
      try await monitor.repair()
      #expect(try await fixture.count("reprocess_run") == 0)
      // The repair found the damaged source.
      #expect(try await monitor.kinds() == ["corrupt", "corrupt"])
      try await monitor.repair()
      try await monitor.repair()
      #expect(monitor.logged("cannot be made again") == 2)
      #expect(try await monitor.texts("SELECT error FROM blob_damage WHERE error IS NOT NULL").count == 2)

      // Both are restored from a backup.
      for text in ["front a", "composed a"] {
        try Descriptor(writing: fixture.path(text), replacing: true).write(Array(text.utf8))
      }
      try await monitor.repair()
      #expect(try await monitor.kinds().isEmpty)
      #expect(monitor.logged("a damaged blob is intact again") == 2)
    }
  }

  @Test("outputs are made again after their source was restored")
  func sourceRestored() async throws {
    try await with { fixture, monitor in
      try await fixture.post("a")
      try fixture.corrupt("front a")
      try fixture.corrupt("composed a")
      try await monitor.check("composed a")
      try await monitor.repair()
      try Descriptor(writing: fixture.path("front a"), replacing: true).write(Array("front a".utf8))
      try await monitor.repair()
      #expect(try await fixture.count("reprocess_run") == 1)
      #expect(
        try await monitor.texts("SELECT kind FROM blob_damage WHERE run IS NOT NULL AND error IS NULL").count == 1)
    }
  }

  @Test("a damaged output without sources is lost; one of replaced media is removed")
  func others() async throws {
    try await with { fixture, monitor in
      try await fixture.post("a", keepsSources: false)
      try fixture.corrupt("composed a")
      try await monitor.check("composed a")
      try await monitor.repair()
      #expect(try await monitor.texts("SELECT error FROM blob_damage") == ["its sources were not kept"])
      try await fixture.sql(
        """
        UPDATE asset_set SET retired_at = now() WHERE definition IS NOT NULL;
        UPDATE post SET asset_set_id = NULL, status = 'failed'
        """)
      try await monitor.repair()
      try await fixture.store.collecting.collectReleased(fixture.pool)
      #expect(try await monitor.kinds().isEmpty)
      #expect(try !fixture.blobs.contains(IntegrityFixture.hash("composed a")))
    }
  }

  @Test("the scrubber reads queued blobs and records damage, until its task is cancelled")
  func scrubbed() async throws {
    try await with { fixture, monitor in
      try await fixture.post("a")
      try fixture.corrupt("composed a")
      let queue = ScrubQueue()
      let isLogged = OneShot<Void>()
      let recorder = DamageRecorder(
        blobs: fixture.blobs,
        log: Logger(format: .text) { line in if line.contains("a blob is damaged") { isLogged.fulfil(()) } },
        metrics: monitor.metrics)
      let scrubber = Scrubber(queue: queue, recorder: recorder, pool: fixture.pool)
      let scrubbing = Task { await scrubber.run() }
      for text in ["clip.front a", "composed a"] {
        queue.offer(IntegrityFixture.hash(text), bytes: Int64(text.utf8.count))
      }
      await isLogged.value
      scrubbing.cancel()
      await scrubbing.value
      #expect(try await monitor.kinds() == ["corrupt"])
    }
  }
}
