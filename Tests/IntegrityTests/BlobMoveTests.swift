import BlobTesting
import Blobs
import Crypto
import Glibc
import Integrity
import Model
import Platform
import Postgres
import PostgresTesting
import Testing

@Suite("Moves of blobs with damage", .tags(.database), .timeLimit(.minutes(60)))
struct BlobMoveTests {
  /// Moves the blobs of a fixture; a second call goes on with the first.
  private static func move(
    _ fixture: IntegrityFixture, to target: FolderBlobStore, as blobs: (any InspectableBlobStore)? = nil,
    leavesDamaged: Bool = false
  ) async throws -> BlobMoveReport {
    try await BlobMove(
      pool: fixture.pool, from: fixture.blobs, to: blobs ?? target, id: target.id, parallel: 2,
      leavesDamaged: leavesDamaged
    ) { _ in }.run()
  }

  private static func adopt(_ fixture: IntegrityFixture) async throws {
    try await fixture.sql("INSERT INTO blob_store (id) VALUES ('\(fixture.blobs.id)')")
  }

  @Test("a row with a wrong length ends no move: its blob is copied, and is reported as damaged each time")
  func wrongLength() async throws {
    try await IntegrityFixture.with { fixture in
      try await Self.adopt(fixture)
      try await fixture.post("a")
      let hash = IntegrityFixture.hash("composed a")
      try await fixture.sql("UPDATE blob SET bytes = bytes + 1 WHERE hash = '\\x\(hash.hex)'")
      let target = try FolderBlobStore(folder: "\(fixture.folder.path)/next")
      for _ in 0..<2 {
        let report = try await Self.move(fixture, to: target)
        #expect(report.damaged == [hash] && !report.isFinished)
        #expect(try target.contains(hash))
      }
      _ = try await fixture.repair()
      let report = try await Self.move(fixture, to: target)
      #expect(report.damaged.isEmpty && report.isFinished)
    }
  }

  @Test("a file of another length in the target is replaced")
  func wrongCopy() async throws {
    try await IntegrityFixture.with { fixture in
      try await Self.adopt(fixture)
      try await fixture.post("a")
      let hash = IntegrityFixture.hash("composed a")
      let target = try FolderBlobStore(folder: "\(fixture.folder.path)/next")
      try target.publish(target.copy(of: fixture.blobs.open(hash), hash))
      #expect(truncate(target.location(of: hash), 3) == 0)
      let report = try await Self.move(fixture, to: target)
      #expect(report.damaged.isEmpty && report.isFinished)
      #expect(try target.damage(of: hash, bytes: Int64("composed a".utf8.count)) == nil)
    }
  }

  /// Overwrites a blob in a store, which keeps its length.
  private static func rot(_ hash: SHA256Digest, in store: FolderBlobStore) throws {
    let bytes = try store.open(hash).size()
    try Descriptor(writing: store.location(of: hash), replacing: true)
      .write([UInt8](repeating: UInt8(ascii: "#"), count: Int(bytes)))
  }

  @Test(
    "a file in the target with the right length and other bytes is replaced; the move does not end if none has the bytes"
  )
  func rottenCopy() async throws {
    try await IntegrityFixture.with { fixture in
      try await Self.adopt(fixture)
      try await fixture.post("a")
      let hash = IntegrityFixture.hash("composed a")
      let target = try FolderBlobStore(folder: "\(fixture.folder.path)/next")
      try target.publish(target.copy(of: fixture.blobs.open(hash), hash))
      try Self.rot(hash, in: target)
      let whole = try fixture.blobs.open(hash).contents()
      try Self.rot(hash, in: fixture.blobs)
      for _ in 0..<2 {
        let report = try await Self.move(fixture, to: target)
        #expect(report.damaged == [hash] && !report.isFinished)
      }
      try Descriptor(writing: fixture.path("composed a"), replacing: true).write(whole)
      let report = try await Self.move(fixture, to: target)
      #expect(report.copied == 1 && report.damaged.isEmpty && report.isFinished)
      #expect(try target.damage(of: hash, bytes: Int64(whole.count)) == nil)
    }
  }

  @Test("a run reads what the target had before it once, and nothing that it has written")
  func readOnce() async throws {
    try await IntegrityFixture.with { fixture in
      try await Self.adopt(fixture)
      try await fixture.post("a")
      let hash = IntegrityFixture.hash("composed a")
      let target = try FolderBlobStore(folder: "\(fixture.folder.path)/next")
      try target.publish(target.copy(of: fixture.blobs.open(hash), hash))
      let reads = Shared<[SHA256Digest]>([])
      var blobs = ObservedBlobStore(target)
      blobs.onRead = { hash in reads.withLock { $0.append(hash) } }
      let report = try await Self.move(fixture, to: target, as: blobs)
      #expect(report.isFinished && report.copied == report.blobs - 1 && report.copied > 0)
      #expect(reads.withLock(\.self) == [hash])
    }
  }
}
