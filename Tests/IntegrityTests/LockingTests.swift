import BlobTesting
import Blobs
import Crypto
import Integrity
import Platform
import Postgres
import PostgresTesting
import Store
import Telemetry
import Testing

@Suite("Files that are read while no lock is held", .tags(.database), .timeLimit(.minutes(60)))
struct LockingTests {
  /// A store that takes the lock of the row of each blob that is read.
  private static func observed(_ fixture: IntegrityFixture, _ reads: Shared<Int>) -> ObservedBlobStore {
    var blobs = ObservedBlobStore(fixture.blobs)
    blobs.onRead = { [url = fixture.url] hash in
      reads.withLock { $0 += 1 }
      #expect(throws: Never.self, "the row of a blob that is read is locked") {
        let session = try Session.connect(url, timeout: .seconds(5))
        try session.execute("SELECT FROM blob WHERE hash = $1 FOR UPDATE NOWAIT", .bytes(hash.bytes))
      }
      let idle = Result { try idleTransactions(url) }
      #expect((try? idle.get()) == 0)
    }
    return blobs
  }

  private static func recorder(_ blobs: any InspectableBlobStore, _ fixture: IntegrityFixture) -> DamageRecorder {
    DamageRecorder(blobs: blobs, log: Logger { _ in }, metrics: Metrics())
  }

  @Test("verification, repair and the record of damage lock the row of a damaged blob after they have read its file")
  func reading() async throws {
    try await IntegrityFixture.with { fixture in
      try await fixture.post("a")
      try fixture.corrupt("composed a")
      let reads = Shared(0)
      let blobs = Self.observed(fixture, reads)
      let (pool, store) = (fixture.pool, fixture.store)
      try await Self.recorder(blobs, fixture).check(IntegrityFixture.hash("composed a"), pool)
      #expect(try await fixture.count("blob_damage") == 1)
      let findings = try await Verifier(pool: pool, store: store, blobs: blobs, parallel: 1).run().findings
      #expect(findings.map(\.code) == [.blobCorrupt])
      // The check of all, and the second one of that which is damaged.
      #expect(reads.withLock(\.self) == 1 + 6)
      let repairer = Repairer(pool: pool, store: store, blobs: blobs, remake: { _ in [:] })
      #expect(try await repairer.repair(findings).count == 1)
      // The damaged content was removed, because a writer replaces none.
      #expect(try await fixture.codes() == [.blobMissing])
    }
  }

  @Test("what a writer has replaced while it was read is read again, and is no damage")
  func replaced() async throws {
    try await IntegrityFixture.with { fixture in
      try await fixture.post("a")
      try fixture.corrupt("composed a")
      let hash = IntegrityFixture.hash("composed a")
      let content = try fixture.seal("composed a")
      let reads = Shared(0)
      var blobs = ObservedBlobStore(fixture.blobs)
      blobs.onRead = { [url = fixture.url, blobs = fixture.blobs] _ in
        let count = reads.withLock { reads in
          reads += 1
          return reads
        }
        guard count == 1 else { return }
        #expect(throws: Never.self) {
          try blobs.publish(content, replacing: true)
          try Session.connect(url, timeout: .seconds(5)).transaction { session in
            try session.execute("UPDATE blob SET bytes = bytes WHERE hash = $1", .bytes(hash.bytes))
          }
        }
      }
      try await Self.recorder(blobs, fixture).check(hash, fixture.pool)
      #expect(try await fixture.count("blob_damage") == 0)
      #expect(reads.withLock(\.self) == 2)
    }
  }
}
