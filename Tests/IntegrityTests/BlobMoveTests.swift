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
    _ fixture: IntegrityFixture, to target: FolderBlobStore, leavesDamaged: Bool = false
  ) async throws -> BlobMoveReport {
    try await BlobMove(
      pool: fixture.pool, from: fixture.blobs, to: target, id: target.id, parallel: 2, leavesDamaged: leavesDamaged
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
}
