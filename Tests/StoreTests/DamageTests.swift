import Blobs
import Crypto
import Glibc
import Model
import Platform
import Postgres
import Store
import Testing

@Suite("Damaged blobs in the database", .tags(.database))
struct DamageTests {
  private static func hash(_ text: String) -> SHA256Digest { SHA256.digest(of: Array(text.utf8)) }

  private func corrupt(_ text: String, _ fixture: StoreFixture) throws {
    let file = open(fixture.blobs.location(of: Self.hash(text)), O_WRONLY)
    try #require(file >= 0)
    try Descriptor(owning: file).write([UInt8(ascii: "#")], at: 2)
  }

  @Test("each is noted once, taken by one at a time, and forgotten with its blob")
  func noted() async throws {
    try await StoreFixture.with { fixture in
      let (store, hash) = (fixture.store, Self.hash("front"))
      try await fixture.submit("front", "back")
      let notes = try await fixture.pool.run { session in
        [
          try store.note(.corrupt, of: hash, session), try store.note(.missing, of: hash, session),
          try store.note(.corrupt, of: Self.hash("nobody's"), session),
        ]
      }
      #expect(notes == [true, false, false])
      let taken = try await fixture.pool.run { session in
        [try store.takeDamaged(limit: 10, session), try store.takeDamaged(limit: 10, session)]
      }
      #expect(taken.map { $0.map(\.hash) } == [[hash], []])
      #expect(taken[0][0].bytes == 5 && !taken[0][0].isMadeAgain)
      let lost = try await fixture.pool.run { session in
        try (0..<2).map { _ in try store.note(lost: hash, because: "no backup", session) }
      }
      #expect(lost == [true, false])
      try await fixture.pool.run { session in
        try session.execute("UPDATE post SET source_set_id = NULL, status = 'failed'")
        try session.execute("DELETE FROM asset")
      }
      _ = try await fixture.pool.transaction { session in try store.collect([hash], session) }
      #expect(try await fixture.count("blob_damage") == 0)
    }
  }

  @Test("who publishes the right bytes replaces a file that is known to be corrupt, and nothing speaks against it then")
  func healed() async throws {
    try await StoreFixture.with { fixture in
      let (store, hash) = (fixture.store, Self.hash("front"))
      try await fixture.submit("front", "back")
      try corrupt("front", fixture)
      // Nobody knows it yet: the file has the right length.
      try await fixture.submit("front", "other")
      #expect(try fixture.content(hash) == "fr#nt")
      #expect(try await fixture.pool.run { session in try store.note(.corrupt, of: hash, session) })
      try await fixture.submit("front", "third")
      #expect(try fixture.content(hash) == "front")
      #expect(try await fixture.count("blob_damage") == 0)
    }
  }

  @Test("a transaction that rolls back leaves it noted, whatever lies in the folder by then")
  func rolledBack() async throws {
    try await StoreFixture.with { fixture in
      struct Undone: Error {}
      let (store, hash) = (fixture.store, Self.hash("composed "))
      try await fixture.submit("front", "back")
      let claim = try await fixture.claim()
      try await fixture.publish(claim)
      try corrupt("composed ", fixture)
      #expect(try await fixture.pool.run { session in try store.note(.corrupt, of: hash, session) })
      try await fixture.submit("front", "other")
      let again = try await fixture.claim()
      let outputs = try fixture.outputs("")
      await #expect(throws: Undone.self) {
        try await fixture.pool.transaction { session in
          try store.publish(
            outputs, of: again.work, recipe: SHA256.digest(of: [1]), job: again.job, verdict: StoreFixture.accepted,
            seconds: 1, session)
          throw Undone()
        }
      }
      #expect(try await fixture.count("blob_damage") == 1)
      #expect(try fixture.blobs.damage(of: hash, bytes: 9) == nil)
    }
  }

  @Test("sources are opened by their lengths, and one that is not what was submitted is the storage's fault")
  func sources() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit("front", "back")
      let work = try await fixture.claim().work
      let moment = try work.moment
      try work.checkSources(in: fixture.blobs)
      #expect(try work.open(moment.front, in: fixture.blobs).size() == 5)
      try corrupt("front", fixture)
      #expect(try work.open(moment.front, in: fixture.blobs).size() == 5)
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
