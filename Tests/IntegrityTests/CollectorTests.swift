import Blobs
import Crypto
import Definitions
import FoundationEssentials
import Glibc
import Integrity
import Model
import Platform
import Postgres
import PostgresTesting
import Rooms
import Store
import Testing

@Suite("Collection of orphans", .tags(.database), .timeLimit(.minutes(60)))
struct CollectorTests {
  /// Creates orphans of every kind.
  private func createOrphans(_ fixture: IntegrityFixture) async throws {
    let gone = try await fixture.post("gone")
    try await fixture.sql("DELETE FROM post WHERE public_id = '\(gone)'")
    try await fixture.post("old")
    try await fixture.sql(
      """
      UPDATE asset_set SET retired_at = now() - interval '25 hours' WHERE id = (SELECT asset_set_id FROM post);
      UPDATE post SET asset_set_id = NULL, status = 'failed';
      INSERT INTO blob (hash, bytes) VALUES (sha256('orphan'), 6);
      INSERT INTO idempotent_answer (tenant, key, fingerprint, status, body, created_at)
      VALUES ('', 'k', '', 200, '', now() - interval '2 days')
      """)
    try fixture.publishOrphan("spare")
    try fixture.blobs.publish(fixture.seal("orphan"))
    _ = try Descriptor(writing: "\(fixture.blobFolder)/.staging/1-dead", replacing: false)
  }

  @Test("a dry run reports what a run then removes, and changes nothing; referenced objects stay")
  func dryRun() async throws {
    try await IntegrityFixture.with { fixture in
      try await createOrphans(fixture)
      try await fixture.post("kept")
      let tables = ["blob", "asset", "asset_set", "blob_release", "idempotent_answer"]
      let rows = try await counts(tables, fixture)
      let files = try fixture.files()

      let dry = try await fixture.dryRun()
      #expect(try await counts(tables, fixture) == rows)
      #expect(try fixture.files() == files)
      #expect(try Folder.names(in: "\(fixture.blobFolder)/.staging") == ["1-dead"])
      #expect(dry.isDryRun && dry.retiredSets == 1 && dry.orphanSets == 2 && dry.answers == 1)
      #expect(dry.orphanFiles == .init(count: 1, bytes: 5) && dry.stagedFiles.count == 1)

      let run = try await fixture.collect()
      #expect(run.retiredSets == dry.retiredSets && run.orphanSets == dry.orphanSets && run.answers == dry.answers)
      #expect(run.blobs == dry.blobs && run.orphanFiles == dry.orphanFiles && run.stagedFiles == dry.stagedFiles)
      #expect(try await fixture.verify().isConsistent)
      // The sources of the post without outputs, and both sets of the other post.
      #expect(try await fixture.count("asset_set") == 3)
      let nothing = try await fixture.dryRun()
      #expect(nothing.blobs.count == 0 && nothing.orphanSets == 0 && nothing.retiredSets == 0)
    }
  }

  private func counts(_ tables: [String], _ fixture: IntegrityFixture) async throws -> [Int] {
    var counts: [Int] = []
    for table in tables { counts.append(try await fixture.count(table)) }
    return counts
  }

  @Test("a replaced set stays until the grace period is over, and a kept or current set stays permanently")
  func grace() async throws {
    try await IntegrityFixture.with { fixture in
      try await fixture.post("a")
      try await fixture.sql(
        """
        UPDATE asset_set SET retired_at = now() - interval '1 hour' WHERE definition IS NOT NULL;
        UPDATE post SET asset_set_id = NULL, status = 'failed'
        """)
      #expect(try await fixture.collect().retiredSets == 0)
      #expect(try fixture.blobs.contains(IntegrityFixture.hash("composed a")))
      try await fixture.sql("UPDATE asset_set SET is_kept = true")
      #expect(try await fixture.collect(grace: .zero).retiredSets == 0)
      try await fixture.sql("UPDATE asset_set SET is_kept = false")
      #expect(try await fixture.collect(grace: .seconds(1800)).retiredSets == 1)
      #expect(try !fixture.blobs.contains(IntegrityFixture.hash("composed a")))
      // A current set stays even if it is marked as retired.
      try await fixture.sql("UPDATE asset_set SET retired_at = now() - interval '9 days'")
      #expect(try await fixture.collect(grace: .zero).retiredSets == 0)
    }
  }

  @Test("what was released waits for its pause, is no orphan, and is counted")
  func pause() async throws {
    try await IntegrityFixture.with { usual in
      let fixture = IntegrityFixture(
        folder: usual.folder, blobs: usual.blobs, store: Store(blobs: usual.blobs, rooms: .all), pool: usual.pool,
        url: usual.url)
      try await fixture.post("a", keepsSources: false)
      let front = IntegrityFixture.hash("front a")
      for report in [try await fixture.dryRun(), try await fixture.collect()] {
        #expect(report.blobs.count == 0 && report.waiting == .init(count: 2, bytes: 13))
      }
      #expect(try fixture.blobs.contains(front))
      #expect(try await fixture.verify().isConsistent)
      try await fixture.sql("UPDATE blob_release SET released_at = released_at - interval '1 hour'")
      for report in [try await fixture.dryRun(), try await fixture.collect()] {
        #expect(report.blobs == .init(count: 2, bytes: 13) && report.waiting.count == 0)
      }
      #expect(try !fixture.blobs.contains(front))
    }
  }

  @Test("the bytes of a finished upload that a post still awaits are no orphan, and a verification names the post")
  func finishedUpload() async throws {
    try await IntegrityFixture.with { fixture in
      let folder = try fixture.blobs.uploads()
      let record = UploadRecord(user: nil, length: 3, metadata: nil, createdAt: .now, expiresAt: .distantFuture)
      try folder.create(record)
      let file = try #require(try folder.open(record.id))
      #expect(try Array("abc".utf8).withUnsafeBytes { try file.append($0, at: 0) } && file.complete(at: 3))
      let hash = try fixture.publishOrphan("abc")
      let post = try await fixture.pool.transaction { session in
        try AwaitedUploads.submit(
          PostDraft(author: "ada"), awaiting: [AwaitedUpload(upload: record.id, part: "front")], request: nil, session)
      }
      #expect(try await fixture.codes() == [.orphanFile])
      try folder.finish(record.id, as: hash, now: .now)
      let findings = try await fixture.verify().findings
      #expect(findings.map(\.code) == [.uploadFinished] && findings.map(\.object) == [.post(post)])
      #expect(try await fixture.repair().map(\.object) == [.post(post)])
      #expect(try await fixture.dryRun().orphanFiles.count == 0)
      #expect(try await fixture.collect().orphanFiles.count == 0)
      #expect(try fixture.blobs.contains(hash))
      try await fixture.sql("DELETE FROM post")
      #expect(try await fixture.codes() == [.orphanFile])
      #expect(try await fixture.collect().orphanFiles.count == 1)
    }
  }

  @Test(
    "a published file whose transaction is open stays after a commit, and is removed after a rollback",
    arguments: [true, false])
  func openTransaction(commits: Bool) async throws {
    struct RollBack: Error {}
    try await IntegrityFixture.with { fixture in
      let source = NewAsset(role: .sourcePhoto, type: "image/jpeg", content: try fixture.seal("open"))
      let collection = Shared<Task<CollectReport, any Error>?>(nil)
      try await fixture.store.publish(contentOf: [source], fixture.pool)
      try? await fixture.pool.transaction { session in
        let definition = try #require(try Definitions.photo("profile-image"))
        _ = try Images.submit(
          ImageDraft(kind: .profile, owner: "ada"), for: .unrestricted, source: source, definition: definition,
          request: nil, fixture.store, session)
        // The collection finds the file without a row, and waits for the writer.
        let task = try IntegrityFixture.start(during: session) { try await fixture.collect() }
        collection.withLock { $0 = task }
        if !commits { throw RollBack() }
      }
      let report = try #require(try await collection.withLock { $0 }?.value)
      #expect(report.orphanFiles.count == (commits ? 0 : 1))
      #expect(try fixture.blobs.contains(IntegrityFixture.hash("open")) == commits)
      #expect(try await fixture.verify().isConsistent)
    }
  }

  @Test("a writer of a blob that is being collected waits, and publishes the blob again")
  func raceWithWriters() async throws {
    try await IntegrityFixture.with { fixture in
      for round in 0..<12 {
        try fixture.publishOrphan("front \(round)")
        try fixture.publishOrphan("back \(round)")
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask { _ = try await fixture.collect() }
          group.addTask { try await fixture.submit("\(round)") }
          group.addTask { _ = try await fixture.verify() }
          try await group.waitForAll()
        }
        #expect(try await fixture.verify().isConsistent)
      }
    }
  }

  @Test("the blobs of quarantined inputs stay without a post, are verified, and are orphans after the release")
  func quarantined() async throws {
    try await IntegrityFixture.with { fixture in
      let post = try await fixture.submit("a")
      try await fixture.sql(
        """
        INSERT INTO media_crash (inputs, crashes, last_error, quarantined_at) VALUES (sha256('both'), 2, '', now());
        INSERT INTO quarantined_input (inputs, role, blob) SELECT sha256('both'), role, blob FROM asset
        """)
      try await fixture.pool.transaction { session in
        _ = try Posts.delete(post, for: .unrestricted, session)
      }
      try await fixture.store.collecting.collectReleased(fixture.pool)
      #expect(try await fixture.dryRun().blobs.count == 0)
      #expect(try await fixture.collect().blobs.count == 0)
      #expect(try fixture.files().count == 2)
      #expect(try await fixture.verify().isConsistent)
      try fixture.corrupt("front a")
      let findings = try await fixture.verify().findings
      #expect(findings.map(\.code) == [.sourceCorrupt] && findings.first?.severity == .lost)
      #expect(findings.first?.detail.contains("quarantined as \(IntegrityFixture.hash("both").hex.prefix(12))") == true)
      try await fixture.sql("DELETE FROM media_crash")
      #expect(try await fixture.dryRun().blobs.count == 2)
      #expect(try await fixture.collect().blobs.count == 2)
      #expect(try fixture.files().isEmpty)
    }
  }

  @Test("no blob is removed during a hold, and all orphans after it")
  func hold() async throws {
    try await IntegrityFixture.with { fixture in
      let post = try await fixture.post("a")
      let until = try await fixture.pool.transaction { session in
        try Collecting.hold(for: .seconds(3600), session)
      }
      // A second hold does not shorten the first.
      let same = try await fixture.pool.transaction { session in
        try Collecting.hold(for: .seconds(1), session)
      }
      #expect(same == until)
      let files = try fixture.files()
      try await fixture.pool.transaction { session in
        _ = try Posts.delete(post, for: .unrestricted, session)
      }
      try await fixture.store.collecting.collectReleased(fixture.pool)
      try fixture.publishOrphan("spare")
      let report = try await fixture.collect()
      #expect(report.heldUntil == until && report.blobs.count == 0 && report.orphanFiles.count == 0)
      #expect(try fixture.files().isSuperset(of: files))
      #expect(try await fixture.pool.run { session in try Collecting.releaseHold(session) })
      #expect(try await fixture.collect().blobs.count > 0)
      #expect(try fixture.files().isEmpty)
      #expect(try await fixture.count("blob") == 0)
    }
  }

  @Test("a hold waits for a running collector, and later collectors see the hold")
  func holdWaits() async throws {
    try await IntegrityFixture.with { fixture in
      let post = try await fixture.post("a")
      try await fixture.pool.transaction { session in
        _ = try Posts.delete(post, for: .unrestricted, session)
      }
      let (removals, hold) = try await fixture.pool.transaction { session in
        let hashes = [IntegrityFixture.hash("composed a"), IntegrityFixture.hash("front a")]
        let removals = try fixture.store.collecting.beginRemoval(of: hashes, session)
        let hold = try IntegrityFixture.start(during: session) {
          try await fixture.pool.transaction { session in
            try Collecting.hold(for: .seconds(60), session)
          }
        }
        return (removals, hold)
      }
      _ = try await hold.value
      // What has no row any more is in no dump.
      #expect(try await fixture.store.collecting.finish(removals, fixture.pool).blobs == 2)
      let after = try await fixture.store.collecting.collectReleased(fixture.pool)
      #expect(after.blobs == 0)
      #expect(try await fixture.count("blob_release") > 0)
    }
  }
}
