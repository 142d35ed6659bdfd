import BlobTesting
import Blobs
import Crypto
import Model
import Platform
import Postgres
import PostgresTesting
import Rooms
import StoreTesting
import Testing

@testable import Store

@Suite("The pause from a release to the removal", .tags(.database))
struct ReleasedPauseTests {
  private static let front = SHA256.digest(of: Array("front".utf8))

  /// Runs a test with a store whose pause is that of a service.
  private static func with(_ body: (StoreFixture) async throws -> Void) async throws {
    try await StoreFixture.with { usual in
      let store = Store(blobs: usual.blobs, rooms: .all)
      try await body(StoreFixture(blobs: usual.blobs, store: store, pool: usual.pool, url: usual.url))
    }
  }

  private static func delete(_ post: PublicID, _ fixture: StoreFixture) async throws {
    try await fixture.pool.transaction { session in _ = try Posts.delete(post, for: .unrestricted, session) }
    try await fixture.collect()
  }

  /// Lets releases be older.
  private static func age(_ interval: String, _ fixture: StoreFixture) async throws {
    try await fixture.pool.run { session in
      _ = try session.execute("UPDATE blob_release SET released_at = released_at - interval '\(interval)'")
    }
    try await fixture.collect()
  }

  @Test("the rows of a deleted post go at once, and its files an hour later")
  func deleted() async throws {
    try await Self.with { fixture in
      let post = try await fixture.submit()
      try await fixture.publish(fixture.claim())
      try await Self.delete(post, fixture)
      for table in ["post", "asset", "asset_set"] { #expect(try await fixture.count(table) == 0, "\(table)") }
      #expect(try fixture.holds(Self.front))
      try await Self.age("59 minutes", fixture)
      #expect(try fixture.holds(Self.front))
      #expect(try await fixture.count("blob") == 4)
      try await Self.age("1 minute", fixture)
      #expect(try !fixture.holds(Self.front))
      for table in ["blob", "blob_release"] { #expect(try await fixture.count(table) == 0, "\(table)") }
    }
  }

  @Test("what is submitted again meanwhile stays, and waits for its last release")
  func submittedAgain() async throws {
    try await Self.with { fixture in
      try await Self.delete(fixture.submit(), fixture)
      try await Self.age("50 minutes", fixture)
      let again = try await fixture.submit()
      try await Self.age("10 minutes", fixture)
      try await fixture.checkFiles()
      #expect(try await fixture.count("blob") == 2)
      #expect(try await fixture.count("blob_release") == 0)

      try await Self.delete(again, fixture)
      try await Self.age("50 minutes", fixture)
      try await Self.delete(fixture.submit(), fixture)
      try await Self.age("10 minutes", fixture)
      // The first release is an hour old, and the last one ten minutes.
      #expect(try fixture.holds(Self.front))
      try await Self.age("50 minutes", fixture)
      #expect(try !fixture.holds(Self.front))
    }
  }

  @Test("what a clock that has stepped back released in the future waits from now on")
  func future() async throws {
    try await Self.with { fixture in
      try await Self.delete(fixture.submit(), fixture)
      try await Self.age("-2 days", fixture)
      try await Self.age("59 minutes", fixture)
      #expect(try fixture.holds(Self.front))
      try await Self.age("1 minute", fixture)
      #expect(try !fixture.holds(Self.front))
      #expect(try await fixture.count("blob_release") == 0)
    }
  }

  @Test("while the storage is nearly full, what waits goes in turns, the oldest first, but during a hold")
  func room() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.pool.run { session in
        try session.executeScript(
          """
          INSERT INTO blob (hash, bytes) SELECT sha256(n::text::bytea), 1 FROM generate_series(1, 150) AS n;
          INSERT INTO blob_release (hash, released_at)
          SELECT sha256(n::text::bytea), now() - make_interval(secs => n) FROM generate_series(1, 150) AS n
          """, name: "released")
      }
      let free = Shared<[Int64]>([])
      var blobs = ObservedBlobStore(fixture.blobs)
      blobs.free = { free.withLock { $0.isEmpty ? nil : $0.removeFirst() } }
      let collecting = Store(blobs: blobs, rooms: .all, minFree: 1 << 20).collecting
      // Four times the minimum is enough.
      free.withLock { $0 = [4 << 20] }
      try await collecting.makeRoom(fixture.pool)
      #expect(try await fixture.count("blob") == 150)
      _ = try await fixture.pool.transaction { session in try Collecting.hold(for: .seconds(3600), session) }
      free.withLock { $0 = [0] }
      try await collecting.makeRoom(fixture.pool)
      #expect(try await fixture.count("blob") == 150)
      _ = try await fixture.pool.run { session in try Collecting.releaseHold(session) }
      // After one turn there is room again.
      free.withLock { $0 = [(4 << 20) - 1, 4 << 20] }
      try await collecting.makeRoom(fixture.pool)
      #expect(free.withLock(\.isEmpty))
      #expect(try await fixture.count("blob") == 50)
      let youngest = "blob WHERE hash IN (SELECT sha256(n::text::bytea) FROM generate_series(1, 50) AS n)"
      #expect(try await fixture.count(youngest) == 50)
      free.withLock { $0 = [0, 0] }
      try await collecting.makeRoom(fixture.pool)
      #expect(try await fixture.count("blob") == 0)
    }
  }
}
