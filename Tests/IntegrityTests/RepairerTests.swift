import Blobs
import Crypto
import Glibc
import Integrity
import Model
import Platform
import Postgres
import PostgresTesting
import Store
import Testing

@Suite("Repairs", .tags(.database), .timeLimit(.minutes(5)))
struct RepairerTests {
  /// Publishes the outputs of posts again, as whoever reprocesses them does.
  private func remake(_ fixture: IntegrityFixture, _ names: [Subject: String]) -> Remake {
    { subjects in
      var outcomes: [Subject: RemakeOutcome] = [:]
      for subject in subjects {
        guard let name = names[subject] else { continue }
        let outputs = try fixture.outputs(name)
        try await fixture.pool.transaction { session in
          for output in outputs {
            let inline = output.type.hasPrefix("image/") ? try output.content.content() : nil
            try session.execute(
              """
              INSERT INTO blob (hash, bytes, inline_content) VALUES ($1, $2::bigint, $3)
              ON CONFLICT (hash) DO UPDATE SET inline_content = coalesce(blob.inline_content, excluded.inline_content)
              """, .bytes(output.content.hash.bytes), .integer(output.content.bytes), .bytes(inline))
            if inline == nil { try fixture.blobs.publish(output.content) }
          }
        }
        outcomes[subject] = .done
      }
      return outcomes
    }
  }

  @Test("damaged outputs are taken away and made again; the store is whole afterwards")
  func heals() async throws {
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
      try fixture.stray("stray")
      #expect(try await fixture.codes() == [.blobCorrupt, .blobMissing, .inlineCorrupt, .orphanFile])
      let asked = Shared<[Subject]>([])
      let remake = remake(fixture, [.post(a): "a"])
      let failures = try await fixture.repair { subjects in
        asked.withLock { $0 = subjects }
        return try await remake(subjects)
      }
      #expect(failures.isEmpty)
      // Once, though three of its files are damaged.
      #expect(asked.withLock { $0 } == [.post(a)])
      #expect(try await fixture.verify().isWhole)
      #expect(try !fixture.blobs.contains(IntegrityFixture.hash("stray")))
    }
  }

  @Test("where nothing can be made again nothing is taken away")
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

  @Test("lost sources are never touched, nor what depends on them")
  func lost() async throws {
    try await IntegrityFixture.with { fixture in
      try await fixture.post("a")
      try fixture.corrupt("front a")
      try fixture.corrupt("composed a")
      let failures = try await fixture.repair { subjects in
        Issue.record("nobody can make \(subjects)")
        return [:]
      }
      #expect(failures.isEmpty)
      #expect(try await fixture.codes() == [.blobCorrupt, .sourceCorrupt])
      #expect(try fixture.blobs.contains(IntegrityFixture.hash("composed a")))
    }
  }

  @Test("bytes that are right in a row replace a damaged file, and the other way round")
  func twoPlaces() async throws {
    try await IntegrityFixture.with { fixture in
      try await fixture.post("a", keepsSources: false)
      // The image lies in its row; a file of it lies there too, and is damaged. The poster's file is right, its row is not.
      try fixture.blobs.publish(fixture.seal("image a"))
      try fixture.corrupt("image a")
      try fixture.blobs.publish(fixture.seal("poster a"))
      try await fixture.sql(
        "UPDATE blob SET inline_content = 'x' WHERE hash = (SELECT blob FROM asset WHERE role = 'poster')")
      let findings = try await fixture.verify().findings
      #expect(Set(findings.map(\.code)) == [.blobCorrupt, .inlineCorrupt])
      #expect(findings.allSatisfy { $0.severity == .fault })
      #expect(try await fixture.repair().isEmpty)
      #expect(try await fixture.verify().isWhole)
      #expect(try !fixture.blobs.contains(IntegrityFixture.hash("image a")))
    }
  }

  @Test("while a hold stands litter stays, and it is said why")
  func held() async throws {
    try await IntegrityFixture.with { fixture in
      try fixture.stray("stray")
      try await fixture.pool.transaction { session in
        _ = try fixture.store.holdCollecting(for: .seconds(60), session)
      }
      let failures = try await fixture.repair()
      #expect(failures.count == 1 && failures[0].reason.contains("hold"))
      #expect(try await fixture.codes() == [.orphanFile])
    }
  }

  @Test("damaged media that were replaced go at once; kept ones are lost")
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
      #expect(try await fixture.verify().findings.map(\.severity) == [.litter])
      #expect(try await fixture.repair().isEmpty)
      #expect(try await fixture.verify().isWhole)
      #expect(try await fixture.count("asset_set") == 1)
      #expect(try !fixture.blobs.contains(IntegrityFixture.hash("composed a")))
    }
  }

  @Test("what is to be made again is told by the definition that made it, as it is stored")
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
