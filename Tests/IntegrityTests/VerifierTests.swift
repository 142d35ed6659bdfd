import Blobs
import Crypto
import Definitions
import Glibc
import Integrity
import Model
import Platform
import Postgres
import PostgresTesting
import Testing

@testable import Rooms
@testable import Store

@Suite("Verification", .tags(.database), .timeLimit(.minutes(60)))
struct VerifierTests {
  @Test("a store with posts that are processing, ready and without kept sources is consistent")
  func consistent() async throws {
    try await IntegrityFixture.with { fixture in
      for name in ["a", "b"] { try await fixture.post(name) }
      try await fixture.post("c", keepsSources: false)
      try await fixture.submit("d")
      let report = try await fixture.verify()
      #expect(report.isConsistent, "\(report.findings)")
      #expect(report.checked.posts == 4 && report.checked.sets == 6)
      #expect(report.checked.blobs == (try await fixture.count("blob")))
      // Two sources of each post that has them, and three videos of each ready post; images are stored in the database.
      #expect(report.checked.files == 3 * 2 + 3 * 3)
    }
  }

  @Test("a corrupt file, a missing file and a file without a row are found, with the affected posts")
  func files() async throws {
    try await IntegrityFixture.with { fixture in
      let a = try await fixture.post("a")
      let b = try await fixture.post("b")
      try fixture.corrupt("composed a")
      #expect(unlink(fixture.path("clip.front b")) == 0)
      let orphan = try fixture.publishOrphan("orphan")
      let report = try await fixture.verify()
      #expect(report.findings.count == 3)
      let corrupt = try #require(report.findings.first { $0.code == .blobCorrupt })
      #expect(corrupt.object == .blob(IntegrityFixture.hash("composed a")))
      #expect(corrupt.severity == .damaged && corrupt.subjects == [.post(a)])
      let missing = try #require(report.findings.first { $0.code == .blobMissing })
      #expect(missing.object == .blob(IntegrityFixture.hash("clip.front b")) && missing.subjects == [.post(b)])
      let found = try #require(report.findings.first { $0.code == .orphanFile })
      #expect(found.object == .file("\(orphan.hex.prefix(2))/\(orphan.hex)") && found.severity == .orphan)
    }
  }

  @Test("damaged files are recorded, so that they are not served, if that is wanted")
  func recorded() async throws {
    try await IntegrityFixture.with { fixture in
      try await fixture.post("a")
      try fixture.corrupt("composed a")
      #expect(unlink(fixture.path("clip.front a")) == 0)
      _ = try fixture.publishOrphan("orphan")
      _ = try await fixture.verify()
      #expect(try await fixture.count("blob_damage") == 0)
      for _ in 0..<2 {
        let verifier = Verifier(
          pool: fixture.pool, store: fixture.store, blobs: fixture.blobs, parallel: 4, recordsDamage: true)
        #expect(try await verifier.run().findings.count == 3)
        let recorded = try await fixture.pool.run { session in
          try session.execute("SELECT hash, kind FROM blob_damage ORDER BY kind").map { row in
            (hash: try row.get("hash", as: [UInt8].self), kind: try row.get("kind", as: String.self))
          }
        }
        #expect(recorded.map(\.kind) == ["corrupt", "missing"])
        #expect(
          recorded.map(\.hash) == ["composed a", "clip.front a"].map { IntegrityFixture.hash($0).bytes })
      }
    }
  }

  @Test("a definition that does not decode is found once, with the reason and the affected posts")
  func unreadableDefinition() async throws {
    try await IntegrityFixture.with { fixture in
      let a = try await fixture.post("a")
      let b = try await fixture.post("b")
      try await fixture.sql("UPDATE definition SET body = body #- '{limits,bytes}'")
      let findings = try await fixture.verify().findings
      #expect(findings.map(\.code) == [.definitionUnreadable] && findings.first?.severity == .lost)
      #expect(findings.first?.detail == "limits.bytes is missing")
      #expect(Set(findings.first?.subjects ?? []) == [.post(a), .post(b)])
      let (groups, unreadable) = try await fixture.pool.run { session in
        try RemakeGroup.groups(of: [.post(a), .post(b)], session)
      }
      #expect(groups.isEmpty && Set(unreadable.keys) == [.post(a), .post(b)])
      #expect(unreadable[.post(a)]?.contains("limits.bytes is missing") == true)
    }
  }

  @Test("corrupt inline content is found")
  func inline() async throws {
    try await IntegrityFixture.with { fixture in
      try await fixture.post("a")
      try await fixture.sql(
        "UPDATE blob SET inline_content = 'x' WHERE hash = (SELECT blob FROM asset WHERE role = 'image')")
      let findings = try await fixture.verify().findings
      #expect(findings.map(\.code) == [.inlineCorrupt] && findings.first?.severity == .damaged)
    }
  }

  @Test("a damaged source is lost, and so are damaged outputs of it")
  func sources() async throws {
    try await IntegrityFixture.with { fixture in
      let id = try await fixture.post("a")
      try fixture.corrupt("front a")
      #expect(unlink(fixture.path("back a")) == 0)
      #expect(unlink(fixture.path("composed a")) == 0)
      let report = try await fixture.verify()
      #expect(Set(report.findings.map(\.code)) == [.sourceCorrupt, .sourceMissing, .blobMissing])
      #expect(report.findings.allSatisfy { $0.severity == .lost && $0.subjects == [.post(id)] })
    }
  }

  @Test("a missing row of an asset is found, and its blob is unreferenced")
  func assetRow() async throws {
    try await IntegrityFixture.with { fixture in
      let id = try await fixture.post("a")
      try await fixture.sql("DELETE FROM asset WHERE role = 'poster'")
      let findings = try await fixture.verify().findings
      #expect(Set(findings.map(\.code)) == [.assetMissing, .blobUnreferenced])
      #expect(findings.first { $0.code == .assetMissing }?.subjects == [.post(id)])
      try await fixture.sql("DELETE FROM asset WHERE role LIKE 'source.%'")
      let worse = try await fixture.verify().findings
      #expect(worse.contains { $0.code == .setEmpty && $0.severity == .lost })
      #expect(worse.first { $0.code == .assetMissing }?.severity == .lost)
    }
  }

  @Test("a missing row of a blob is found, even if the file exists")
  func blobRow() async throws {
    try await IntegrityFixture.with { fixture in
      try await fixture.post("a")
      // Foreign keys are disabled for this session.
      try await fixture.sql(
        """
        SET session_replication_role = replica;
        DELETE FROM blob WHERE hash = (SELECT blob FROM asset WHERE role = 'composed');
        RESET session_replication_role
        """)
      let findings = try await fixture.verify().findings
      #expect(findings.map(\.code) == [.blobRowMissing])
      #expect(findings.first?.object == .blob(IntegrityFixture.hash("composed a")))
      // The file is not an orphan.
      #expect(try await fixture.collect().orphanFiles.count == 0)
      _ = try await fixture.repair { _ in [:] }
      #expect(try await fixture.codes() == [])
    }
  }

  @Test("the sets of a post that was deleted with SQL are found, and a ready post without outputs")
  func postRow() async throws {
    try await IntegrityFixture.with { fixture in
      let a = try await fixture.post("a")
      let b = try await fixture.post("b")
      try await fixture.sql("DELETE FROM post WHERE public_id = '\(a)'")
      #expect(try await fixture.codes() == [.setUnreferenced, .setUnreferenced])
      _ = try await fixture.repair()
      #expect(try await fixture.codes() == [])
      #expect(try await fixture.count("asset_set") == 2)
      #expect(try !fixture.blobs.contains(IntegrityFixture.hash("front a")))

      try await fixture.sql("UPDATE post SET asset_set_id = NULL, source_set_id = NULL")
      let findings = try await fixture.verify().findings
      #expect(findings.contains { $0.code == .mediaMissing && $0.object == .post(b) && $0.severity == .lost })
    }
  }

  @Test(
    "an unreferenced set that was replaced or is kept gives no finding; a set in use that is marked as retired does")
  func retired() async throws {
    try await IntegrityFixture.with { fixture in
      let id = try await fixture.post("a")
      try await fixture.sql("UPDATE asset_set SET retired_at = now() WHERE definition IS NOT NULL")
      #expect(try await fixture.codes() == [.setRetiredInUse])
      _ = try await fixture.repair()
      #expect(try await fixture.codes() == [])
      try await fixture.sql(
        """
        UPDATE asset_set SET retired_at = now(), is_kept = definition IS NULL;
        UPDATE post SET asset_set_id = NULL, source_set_id = NULL, status = 'failed' WHERE public_id = '\(id)'
        """)
      #expect(try await fixture.codes() == [])
    }
  }

  @Test("wrong lengths in rows are found and corrected, even if their sum exceeds 64 bits", arguments: [99, Int64.max])
  func lengths(bytes: Int64) async throws {
    try await IntegrityFixture.with { fixture in
      try await fixture.post("a")
      try await fixture.sql(
        """
        UPDATE blob SET bytes = \(bytes) WHERE hash = (SELECT blob FROM asset WHERE role = 'composed');
        UPDATE asset SET bytes = 77 WHERE role = 'poster'
        """)
      // The row of the composed video's asset is right, but its blob's is not.
      #expect(try await fixture.codes() == [.assetSize, .assetSize, .blobSize])
      #expect(try await fixture.repair().isEmpty)
      #expect(try await fixture.codes() == [])
    }
  }

  @Test("files that are not blobs are found, and neither repair nor collection removes them")
  func foreign() async throws {
    try await IntegrityFixture.with { fixture in
      let names = ["notes.txt", "00/\(IntegrityFixture.hash("x").hex.dropLast())", "ab/abc"]
      for name in names {
        _ = try Descriptor(writing: "\(fixture.blobFolder)/\(name)", replacing: false)
      }
      let findings = try await fixture.verify().findings
      #expect(Set(findings.map(\.object)) == Set(names.map { FindingObject.file($0) }))
      #expect(findings.allSatisfy { $0.code == .foreignFile })
      #expect(try await fixture.repair().count == 3)
      _ = try await fixture.collect()
      #expect(try await fixture.codes().count == 3)
    }
  }

  @Test(
    "an open transaction that has published files gives no false finding, whether it commits or not",
    arguments: [true, false])
  func openTransaction(commits: Bool) async throws {
    struct RollBack: Error {}
    try await IntegrityFixture.with { fixture in
      let source = NewAsset(role: .sourcePhoto, type: "image/jpeg", content: try fixture.seal("open"))
      let verification = Shared<Task<VerifyReport, any Error>?>(nil)
      try await fixture.store.publish(contentOf: [source], fixture.pool)
      #expect(try fixture.blobs.contains(IntegrityFixture.hash("open")))
      try? await fixture.pool.transaction { session in
        let definition = try #require(try Definitions.photo("profile-image"))
        _ = try Images.submit(
          ImageDraft(kind: .profile, owner: "ada"), for: .unrestricted, source: source, definition: definition,
          request: nil, fixture.store, session)
        // The verification waits for the end of the transaction.
        let task = try IntegrityFixture.start(during: session) { try await fixture.verify() }
        verification.withLock { $0 = task }
        if !commits { throw RollBack() }
      }
      let report = try #require(try await verification.withLock { $0 }?.value)
      // A rollback leaves the file behind.
      #expect(report.findings.map(\.code) == (commits ? [] : [.orphanFile]))
    }
  }

  @Test("blobs that a collector is removing give no false finding")
  func openCollector() async throws {
    try await IntegrityFixture.with { fixture in
      let post = try await fixture.post("a")
      try await fixture.pool.transaction { session in
        _ = try Posts.delete(post, for: .unrestricted, session)
      }
      try await fixture.sql("DELETE FROM blob_release")
      let verification = Shared<Task<VerifyReport, any Error>?>(nil)
      var removals = try await fixture.pool.transaction { session in
        let hashes = try session.execute("SELECT hash FROM blob").compactMap {
          SHA256Digest(bytes: try $0.get(0, as: [UInt8].self))
        }
        let removals = try fixture.store.collecting.beginRemoval(of: hashes, session)
        // The verification waits for the end of the transaction.
        let task = try IntegrityFixture.start(during: session) { try await fixture.verify() }
        verification.withLock { $0 = task }
        return removals
      }
      let report = try #require(try await verification.withLock { $0 }?.value)
      #expect(report.isConsistent, "\(report.findings)")
      #expect(try !fixture.files().isEmpty)
      #expect(try await fixture.verify().isConsistent)
      // A collector that is late leaves the removal to another process, and the two verifications may have taken that long.
      removals.begunAt = .now
      #expect(try await fixture.store.collecting.finish(removals, fixture.pool).blobs > 0)
      #expect(try fixture.files().isEmpty)
    }
  }
}
