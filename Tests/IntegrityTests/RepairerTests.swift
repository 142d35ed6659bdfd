import Blobs
import Crypto
import Definitions
import Glibc
import Integrity
import Model
import Platform
import Postgres
import PostgresTesting
import Rooms
import Store
import Testing

@Suite("Repairs", .tags(.database), .timeLimit(.minutes(60)))
struct RepairerTests {
  /// Publishes the outputs of posts again, as reprocessing does.
  private func remake(_ fixture: IntegrityFixture, _ names: [Subject: String]) -> Remake {
    { subjects in
      var outcomes: [Subject: RemakeOutcome] = [:]
      for subject in subjects {
        guard let name = names[subject] else { continue }
        let outputs = try fixture.outputs(name)
        try await fixture.store.publish(contentOf: outputs, fixture.pool)
        try await fixture.pool.transaction { session in
          for output in outputs {
            let inline = output.type.hasPrefix("image/") ? try output.content.content() : nil
            try session.execute(
              """
              INSERT INTO blob (hash, bytes, inline_content) VALUES ($1, $2::bigint, $3)
              ON CONFLICT (hash) DO UPDATE SET inline_content = coalesce(blob.inline_content, excluded.inline_content)
              """, .bytes(output.content.hash.bytes), .integer(output.content.bytes), .bytes(inline))
          }
        }
        outcomes[subject] = .done
      }
      return outcomes
    }
  }

  @Test("a post or an image that waits for a job that does not exist gets another one; one with outputs is ready")
  func lostJobs() async throws {
    try await IntegrityFixture.with { fixture in
      let a = try await fixture.post("a")
      let b = try await fixture.submit("b")
      let c = try await fixture.submit("c")
      let photo = NewAsset(role: .sourcePhoto, type: "image/jpeg", content: try fixture.seal("photo"))
      let definition = try #require(try Definitions.photo("profile-image"))
      let store = fixture.store
      let image = try await store.transaction(publishing: [photo], fixture.pool) { session in
        try Images.submit(
          ImageDraft(kind: .profile, owner: "ada", author: "ada"), for: .unrestricted, source: photo,
          definition: definition, request: nil, store, session)
      }
      // A cancelled job is in the history, a lost one is nowhere.
      try await fixture.sql(
        """
        UPDATE post SET status = 'processing' WHERE public_id = '\(a)';
        DELETE FROM job WHERE public_id <> (SELECT job FROM post WHERE public_id = '\(c)');
        """)
      let findings = try await fixture.verify().findings
      #expect(findings.allSatisfy { $0.code == .jobMissing && $0.severity == .fault })
      #expect(Set(findings.flatMap(\.subjects)) == Set([.post(a), .post(b), .image(try #require(image))]))
      #expect(try await fixture.repair().isEmpty)
      #expect(try await fixture.codes().isEmpty)
      let statuses = [try await fixture.post(a).status, try await fixture.post(b).status]
      #expect(statuses == [.ready, .processing])
      #expect(try await fixture.count("job") == 3)
      #expect(try await fixture.repair().isEmpty)
      #expect(try await fixture.count("job") == 3)
      // The jobs belong to submissions.
      for _ in 0..<2 { try await fixture.work("w") }
      #expect(try await fixture.count("post WHERE status = 'ready'") >= 2)
    }
  }

  @Test("an item of a run whose job does not exist waits again, and ends with a run that has ended")
  func lostItems() async throws {
    try await IntegrityFixture.with { fixture in
      let a = try await fixture.post("a")
      var selection = ReprocessSelection()
      selection.ids = [a]
      let request = ReprocessRequest(
        selection, definitions: [.take5: [try StoredDefinition(try Definitions.take5Post())]])
      for _ in 0..<2 {
        try await fixture.pool.transaction { session in
          _ = try Reprocessing.create(request, session)
          try Reprocessing.schedule(session)
        }
      }
      #expect(try await fixture.codes().isEmpty)
      try await fixture.sql(
        """
        DELETE FROM job;
        UPDATE reprocess_run SET state = 'cancelled', ended_at = now() WHERE id = (SELECT min(id) FROM reprocess_run)
        """)
      let findings = try await fixture.verify().findings
      #expect(findings.map(\.code) == [.jobMissing, .jobMissing] && findings.map(\.object.kind) == ["run", "run"])
      #expect(try await fixture.repair().isEmpty)
      #expect(try await fixture.codes().isEmpty)
      #expect(try await fixture.count("reprocess_item WHERE outcome = 'cancelled'") == 1)
      try await fixture.remake(a, "again")
      #expect(try await fixture.count("reprocess_item WHERE outcome = 'done'") == 1)
    }
  }

  @Test("damaged outputs are removed and made again, and the store is consistent afterwards")
  func repairs() async throws {
    try await IntegrityFixture.with { fixture in
      let a = try await fixture.post("a")
      try await fixture.post("b")
      try fixture.corrupt("composed a")
      #expect(unlink(fixture.path("clip.front a")) == 0)
      try await fixture.sql(
        """
        UPDATE blob SET inline_content = 'x'
        WHERE hash = (SELECT asset.blob FROM asset JOIN post ON post.asset_set_id = asset.asset_set_id
                      WHERE role = 'image' AND post.public_id = '\(a)')
        """)
      try fixture.publishOrphan("orphan")
      #expect(try await fixture.codes() == [.blobCorrupt, .blobMissing, .inlineCorrupt, .orphanFile])
      let requested = Shared<[Subject]>([])
      let remake = remake(fixture, [.post(a): "a"])
      let failures = try await fixture.repair { subjects in
        requested.withLock { $0 = subjects }
        return try await remake(subjects)
      }
      #expect(failures.isEmpty)
      // The post is requested once for its three damaged blobs.
      #expect(requested.withLock { $0 } == [.post(a)])
      #expect(try await fixture.verify().isConsistent)
      #expect(try !fixture.blobs.contains(IntegrityFixture.hash("orphan")))
    }
  }

  @Test("damaged files stay if outputs cannot be made again")
  func withoutRemake() async throws {
    try await IntegrityFixture.with { fixture in
      let a = try await fixture.post("a")
      try fixture.corrupt("composed a")
      #expect(try await fixture.repair().map(\.object) == [.post(a)])
      #expect(try await fixture.codes() == [.blobCorrupt])
      #expect(try fixture.blobs.contains(IntegrityFixture.hash("composed a")))
      #expect(try await fixture.repair { _ in [.post(a): .failed("no room")] }.map(\.reason) == ["no room"])
      #expect(try await fixture.codes() == [.blobMissing])
    }
  }

  @Test("neither lost sources nor their outputs are changed")
  func lost() async throws {
    try await IntegrityFixture.with { fixture in
      try await fixture.post("a")
      try fixture.corrupt("front a")
      try fixture.corrupt("composed a")
      let failures = try await fixture.repair { subjects in
        Issue.record("\(subjects) cannot be made again")
        return [:]
      }
      #expect(failures.isEmpty)
      #expect(try await fixture.codes() == [.blobCorrupt, .sourceCorrupt])
      #expect(try fixture.blobs.contains(IntegrityFixture.hash("composed a")))
    }
  }

  @Test("intact inline content replaces a damaged file, and an intact file replaces damaged inline content")
  func twoLocations() async throws {
    try await IntegrityFixture.with { fixture in
      try await fixture.post("a", keepsSources: false)
      // The image has intact inline content and a damaged file; the poster has an intact file and damaged inline
      // content.
      try fixture.blobs.publish(fixture.seal("image a"))
      try fixture.corrupt("image a")
      try fixture.blobs.publish(fixture.seal("poster a"))
      try await fixture.sql(
        "UPDATE blob SET inline_content = 'x' WHERE hash = (SELECT blob FROM asset WHERE role = 'poster')")
      let findings = try await fixture.verify().findings
      #expect(Set(findings.map(\.code)) == [.blobCorrupt, .inlineCorrupt])
      #expect(findings.allSatisfy { $0.severity == .fault })
      #expect(try await fixture.repair().isEmpty)
      #expect(try await fixture.verify().isConsistent)
      #expect(try !fixture.blobs.contains(IntegrityFixture.hash("image a")))
    }
  }

  @Test("orphans stay during a hold, with the reason")
  func held() async throws {
    try await IntegrityFixture.with { fixture in
      try fixture.publishOrphan("orphan")
      try await fixture.pool.transaction { session in
        _ = try Collecting.hold(for: .seconds(3600), session)
      }
      let failures = try await fixture.repair()
      #expect(failures.count == 1 && failures[0].reason.contains("hold"))
      #expect(try await fixture.codes() == [.orphanFile])
    }
  }

  @Test("damaged replaced media are removed at once; kept ones are lost")
  func replaced() async throws {
    try await IntegrityFixture.with { fixture in
      try await fixture.post("a")
      try await fixture.sql(
        """
        UPDATE asset_set SET retired_at = now(), is_kept = true WHERE definition IS NOT NULL;
        UPDATE post SET asset_set_id = NULL, status = 'failed'
        """)
      try fixture.corrupt("composed a")
      #expect(try await fixture.verify().findings.map(\.severity) == [.lost])
      try await fixture.sql("UPDATE asset_set SET is_kept = false")
      #expect(try await fixture.verify().findings.map(\.severity) == [.orphan])
      #expect(try await fixture.repair().isEmpty)
      #expect(try await fixture.verify().isConsistent)
      #expect(try await fixture.count("asset_set") == 1)
      #expect(try !fixture.blobs.contains(IntegrityFixture.hash("composed a")))
    }
  }

  @Test("subjects are grouped by the stored definition that made their outputs")
  func groups() async throws {
    try await IntegrityFixture.with { fixture in
      let a = try await fixture.post("a")
      let b = try await fixture.post("b")
      let (groups, unreadable) = try await fixture.pool.run { session in
        try RemakeGroup.groups(of: [.post(a), .post(b), .post(PublicID.now())], session)
      }
      #expect(unreadable.isEmpty)
      #expect(groups.count == 1 && groups[0].kind == .take5)
      #expect(Set(groups[0].subjects) == [.post(a), .post(b)])
      let stored = try await fixture.pool.run { session in
        try session.execute("SELECT hash FROM definition").single().get(0, as: [UInt8].self)
      }
      #expect(groups[0].definition.hash.bytes == stored)
    }
  }
}
