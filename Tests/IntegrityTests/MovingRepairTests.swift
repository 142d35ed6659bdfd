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

@Suite("Damage while blobs move", .tags(.database), .timeLimit(.minutes(60)))
struct MovingRepairTests {
  /// A fixture whose blobs move, and are in both stores.
  private struct Move {
    let fixture: IntegrityFixture
    let next: FolderBlobStore
    let lines = Shared<[String]>([])

    init(_ fixture: IntegrityFixture) throws {
      self.fixture = fixture
      next = try FolderBlobStore(folder: "\(fixture.folder.path)/next")
      for shard in 0..<fixture.blobs.shards {
        for hash in try fixture.blobs.listing(ofShard: shard).blobs.keys {
          try next.publish(next.copy(of: fixture.blobs.open(hash), hash))
        }
      }
    }

    var blobs: MovingBlobStore { MovingBlobStore(fixture.blobs, next: next) }

    func recorder(_ blobs: any InspectableBlobStore) -> DamageRecorder {
      DamageRecorder(
        blobs: blobs, log: Logger(format: .text, lowest: .debug) { [lines] line in lines.withLock { $0.append(line) } },
        metrics: Metrics())
    }

    func codes() async throws -> [FindingCode] {
      try await Verifier(pool: fixture.pool, store: fixture.store, blobs: blobs, parallel: 2).run().findings.map(\.code)
    }

    /// Overwrites a blob in the next store.
    func corruptNext(_ text: String) throws {
      try Descriptor(writing: next.location(of: IntegrityFixture.hash(text)), replacing: true)
        .write([UInt8](repeating: UInt8(ascii: "#"), count: text.utf8.count))
    }
  }

  private func with(_ body: (Move) async throws -> Void) async throws {
    try await IntegrityFixture.with { fixture in
      try await fixture.post("a")
      try await body(try Move(fixture))
    }
  }

  @Test("a blob that one store has intact is no finding, is not recorded, and is mended", arguments: [true, false])
  func mended(isCurrent: Bool) async throws {
    try await with { move in
      let (text, pool) = ("composed a", move.fixture.pool)
      try isCurrent ? move.fixture.corrupt(text) : move.corruptNext(text)
      #expect(try await move.codes().isEmpty)
      try await move.recorder(move.blobs).check(IntegrityFixture.hash(text), pool)
      #expect(try await move.fixture.count("blob_damage") == 0)
      #expect(move.lines.withLock(\.isEmpty))
      for store in [move.fixture.blobs, move.next] {
        #expect(try store.damage(of: IntegrityFixture.hash(text), bytes: Int64(text.utf8.count)) == nil)
      }
    }
  }

  @Test("recorded damage ends when the other store has the blob, and nothing is lost: a source without its own backup")
  func recorded() async throws {
    try await with { move in
      let (hash, pool) = (IntegrityFixture.hash("front a"), move.fixture.pool)
      try move.fixture.corrupt("front a")
      // A process that knows the current store alone.
      try await move.recorder(move.fixture.blobs).check(hash, pool)
      #expect(try await move.fixture.count("blob_damage") == 1)
      try await move.fixture.sql("UPDATE blob_damage SET next_at = now()")
      try await DamageRepair(recorder: move.recorder(move.blobs), store: move.fixture.store).run(pool)
      #expect(try await move.fixture.count("blob_damage") == 0)
      #expect(move.lines.withLock { $0.contains { $0.contains("a damaged blob is intact again") } })
      #expect(move.lines.withLock { !$0.contains { $0.contains("cannot be made again") } })
    }
  }

  @Test("a blob that neither store has intact is a finding, and is recorded with both files")
  func damaged() async throws {
    try await with { move in
      let hash = IntegrityFixture.hash("composed a")
      try move.fixture.corrupt("composed a")
      try move.corruptNext("composed a")
      #expect(try await move.codes() == [.blobCorrupt])
      try await move.recorder(move.blobs).check(hash, move.fixture.pool)
      #expect(try await move.fixture.count("blob_damage") == 1)
      let line = try #require(move.lines.withLock { $0.first { $0.contains("a blob is damaged") } })
      #expect(line.contains(move.fixture.blobs.location(of: hash)) && line.contains(move.next.location(of: hash)))
    }
  }
}
