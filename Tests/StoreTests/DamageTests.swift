import Blobs
import Crypto
import Glibc
import Model
import Platform
import Postgres
import Store
import StoreTesting
import Testing

@Suite("Records of damaged blobs", .tags(.database))
struct DamageTests {
  private static func hash(_ text: String) -> SHA256Digest { SHA256.digest(of: Array(text.utf8)) }

  private func corrupt(_ text: String, _ fixture: StoreFixture) throws {
    let file = open(fixture.blobs.location(of: Self.hash(text)), O_WRONLY)
    try #require(file >= 0)
    try Descriptor(owning: file).write([UInt8(ascii: "#")], at: 2)
  }

  @Test("a damaged blob is recorded once, claimed by one worker at a time, and its record is deleted with the blob")
  func recorded() async throws {
    try await StoreFixture.with { fixture in
      let (store, hash) = (fixture.store, Self.hash("front"))
      try await fixture.submit("front", "back")
      let recorded = try await fixture.pool.run { session in
        [
          try Damage.note(.corrupt, of: hash, session), try Damage.note(.missing, of: hash, session),
          try Damage.note(.corrupt, of: Self.hash("unknown"), session),
        ]
      }
      #expect(recorded == [true, false, false])
      let claimed = try await fixture.pool.run { session in
        [try Damage.claim(limit: 10, session), try Damage.claim(limit: 10, session)]
      }
      #expect(claimed.map { $0.map(\.hash) } == [[hash], []])
      #expect(claimed[0][0].bytes == 5 && !claimed[0][0].isMadeAgain)
      let lost = try await fixture.pool.run { session in
        try (0..<2).map { _ in try Damage.note(lost: hash, because: "no backup", session) }
      }
      #expect(lost == [true, false])
      try await fixture.pool.run { session in
        try session.execute("UPDATE post SET source_set_id = NULL, status = 'failed'")
        try session.execute("DELETE FROM asset")
      }
      _ = try await store.collecting.collect([hash], fixture.pool)
      #expect(try await fixture.count("blob_damage") == 0)
    }
  }

  @Test("publishing a blob replaces its corrupt file, known or not, and deletes the record of the damage")
  func repaired() async throws {
    try await StoreFixture.with { fixture in
      let hash = Self.hash("front")
      try await fixture.submit("front", "back")
      try corrupt("front", fixture)
      // The damage is not recorded yet, and the file has the right length. What was sent is dropped for it.
      try await fixture.submit("front", "other")
      #expect(try fixture.content(hash) == "front")
      try corrupt("front", fixture)
      #expect(try await fixture.pool.run { session in try Damage.note(.corrupt, of: hash, session) })
      try await fixture.submit("front", "third")
      #expect(try fixture.content(hash) == "front")
      #expect(try await fixture.count("blob_damage") == 0)
    }
  }

  @Test("the record of the damage stays if the transaction that replaced the file rolls back")
  func rolledBack() async throws {
    try await StoreFixture.with { fixture in
      struct RollBack: Error {}
      let (store, hash) = (fixture.store, Self.hash("composed "))
      try await fixture.submit("front", "back")
      let claim = try await fixture.claim()
      try await fixture.publish(claim)
      try corrupt("composed ", fixture)
      #expect(try await fixture.pool.run { session in try Damage.note(.corrupt, of: hash, session) })
      try await fixture.submit("front", "other")
      let again = try await fixture.claim()
      let outputs = try fixture.outputs("")
      await #expect(throws: RollBack.self) {
        try await store.transaction(publishing: outputs, fixture.pool) { session in
          try store.publish(
            outputs, of: again.work, recipe: SHA256.digest(of: [1]), job: again.job, verdict: StoreFixture.accepted,
            seconds: 1, session)
          throw RollBack()
        }
      }
      #expect(try await fixture.count("blob_damage") == 1)
      #expect(try fixture.blobs.damage(of: hash, bytes: 9) == nil)
    }
  }

  @Test("opening a source finds its damage, and so does checking the sources once they are open")
  func sources() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit("front", "back")
      let work = try await fixture.claim().work
      let moment = try work.moment
      try work.checkSources(in: fixture.blobs)
      #expect(try work.open(moment.front, in: fixture.blobs).size() == 5)
      try corrupt("front", fixture)
      #expect(throws: BlobError.damaged(moment.front, .corrupt)) {
        _ = try work.open(moment.front, in: fixture.blobs).number
      }
      #expect(throws: BlobError.damaged(moment.front, .corrupt)) { try work.checkSources(in: fixture.blobs) }
      #expect(truncate(fixture.blobs.location(of: moment.front), 2) == 0)
      #expect(throws: BlobError.damaged(moment.front, .truncated)) {
        _ = try work.open(moment.front, in: fixture.blobs).number
      }
      #expect(unlink(fixture.blobs.location(of: moment.front)) == 0)
      #expect(throws: BlobError.missing(moment.front)) { _ = try work.open(moment.front, in: fixture.blobs).number }
      #expect(throws: BlobError.damaged(moment.front, .missing)) { try work.checkSources(in: fixture.blobs) }
    }
  }
}
