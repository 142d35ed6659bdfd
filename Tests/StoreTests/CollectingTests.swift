import BlobTesting
import Blobs
import Crypto
import Definitions
import Glibc
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Rooms
import StoreTesting
import Testing
import WaitTesting

@testable import Store

@Suite("Collecting blobs", .tags(.database))
struct CollectingTests {
  private let refused = Verdict(
    reasons: [Reason(.corruptVideo, input: .front, detail: "broken")], inputs: [:], decisions: [])

  @Test("concurrent submissions and collections of the same blob never leave a row without its file")
  func race() async throws {
    try await StoreFixture.with { fixture in
      // Each round releases both blobs by a rejection while other submissions publish them again.
      for _ in 0..<15 {
        try await fixture.submit("same", "too")
        let claim = try await fixture.claim()
        try await withThrowingTaskGroup(of: Void.self) { group in
          group.addTask {
            try await fixture.pool.transaction { session in
              try fixture.keepingNone.reject(claim.work, job: claim.job, verdict: refused, session)
            }
            try await fixture.collect()
          }
          group.addTask { try await fixture.collect() }
          for _ in 0..<2 { group.addTask { _ = try await fixture.submit("too", "same") } }
          try await group.waitForAll()
        }
        try await fixture.checkFiles()
        // Empties the store for the next round: each claim is rejected.
        let deadline = Deadline("no job")
        while try await fixture.count("job WHERE kind = 'post'") > 0 {
          try deadline.check()
          let rest = try await fixture.claim()
          try await fixture.pool.transaction { session in
            try fixture.keepingNone.reject(rest.work, job: rest.job, verdict: refused, session)
          }
        }
        try await fixture.collect()
        #expect(try await fixture.count("blob") == 0)
      }
    }
  }

  @Test("a collector that waits for a submission sees the submission's reference")
  func waitsForSubmission() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit("same", "too")
      let claim = try await fixture.claim()
      try await fixture.pool.transaction { session in
        try fixture.keepingNone.reject(claim.work, job: claim.job, verdict: refused, session)
      }
      let sources = try fixture.sources("same", "too")
      let definition = try claim.work.moment.definition
      // The collector starts while the submission holds the row locks, and continues after its commit.
      let collector = try await fixture.store.transaction(publishing: sources, fixture.pool) { session in
        _ = try fixture.store.submitPost(
          PostDraft(author: "ada"), sources: sources, definition: .clips(definition), request: nil, session)
        let collector = Task { try await fixture.collect() }
        var isWaiting = false
        while !isWaiting {
          isWaiting = try session.execute(
            "SELECT EXISTS (SELECT FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid)"
          ).single().get(0)
        }
        return collector
      }
      try await collector.value
      #expect(try await fixture.count("blob") == 2)
      try await fixture.checkFiles()
    }
  }

  /// Submits a moment whose sources are released, and returns it.
  private func release(_ fixture: StoreFixture) async throws -> StoreFixture.Claim {
    try await fixture.submit()
    let claim = try await fixture.claim()
    try await fixture.pool.transaction { session in
      try fixture.keepingNone.reject(claim.work, job: claim.job, verdict: refused, session)
    }
    return claim
  }

  private func removal(of claim: StoreFixture.Claim, _ fixture: StoreFixture) async throws -> BlobRemovals {
    let hashes = [try claim.work.moment.front, try claim.work.moment.back]
    return try await fixture.pool.transaction { try fixture.store.collecting.beginRemoval(of: hashes, $0) }
  }

  /// Lets removals be as old as those of a process that has ended.
  private func age(_ fixture: StoreFixture, by interval: String = "2 minutes") async throws {
    try await fixture.pool.run { session in
      _ = try session.execute("UPDATE blob_removal SET begun_at = begun_at - interval '\(interval)'")
    }
  }

  @Test("no transaction is open and no row is locked while files are removed")
  func withoutTransaction() async throws {
    try await StoreFixture.with { fixture in
      let claim = try await release(fixture)
      let removed = Shared<[SHA256Digest]>([])
      var blobs = ObservedBlobStore(fixture.blobs)
      blobs.onRemove = { [url = fixture.url] hash in
        removed.withLock { $0.append(hash) }
        #expect((try? idleTransactions(url)) == 0)
      }
      #expect(
        try await Store(blobs: blobs, rooms: .all, releasedPause: .zero).collecting.collectReleased(fixture.pool).blobs
          == 2)
      #expect(try Set(removed.withLock(\.self)) == [claim.work.moment.front, claim.work.moment.back])
      #expect(try await fixture.count("blob") == 0)
      #expect(try await fixture.count("blob_removal") == 0)
    }
  }

  @Test("a submission of bytes that are being removed is repeated until they have gone, and publishes them again")
  func writerDuringRemoval() async throws {
    try await StoreFixture.with { fixture in
      let claim = try await release(fixture)
      let gate = try Gate()
      let began = AsyncStream.makeStream(of: Void.self)
      var blobs = ObservedBlobStore(fixture.blobs)
      blobs.onRemove = { _ in
        began.continuation.yield()
        gate.wait()
      }
      let collecting = Task { [blobs] in
        try await Store(blobs: blobs, rooms: .all, releasedPause: .zero).collecting.collectReleased(fixture.pool)
      }
      for await _ in began.stream { break }
      // The first conflict lets the removal go on.
      let conflicts = Shared<[String?]>([])
      let pool = Pool(fixture.url, size: 1) { error in
        conflicts.withLock { $0.append(error.sqlState) }
        gate.open()
      }
      let sources = try fixture.sources("front", "back")
      let definition = try claim.work.moment.definition
      try await fixture.store.transaction(publishing: sources, pool) { session in
        _ = try fixture.store.submitPost(
          PostDraft(author: "ada"), sources: sources, definition: .clips(definition), request: nil, session)
      }
      gate.open()
      #expect(try await collecting.value.blobs == 2)
      #expect(conflicts.withLock { !$0.isEmpty && $0.allSatisfy { $0 == "40001" } })
      #expect(try await fixture.count("blob") == 2)
      try await fixture.checkFiles()
      await pool.close()
    }
  }

  @Test(
    "what a collector has removed after its publication, and before the transaction that refers to it, is published again",
    arguments: [true, false])
  func removedInBetween(hadRow: Bool) async throws {
    try await StoreFixture.with { fixture in
      let (store, pool) = (fixture.store, fixture.pool)
      let claim = hadRow ? try await release(fixture) : nil
      let sources = try fixture.sources("front", "back")
      let definition = try claim?.work.moment.definition ?? Definitions.take5Post()
      let attempts = Shared(0)
      try await pool.transaction(preparedBy: {
        try await store.publish(contentOf: sources, pool)
        guard
          attempts.withLock({
            $0 += 1; return $0 == 1
          })
        else { return }
        // The removal has ended when the transaction begins.
        if hadRow {
          #expect(try await store.collecting.collectReleased(pool).blobs == 2)
        } else {
          #expect(try await store.collecting.collectOrphan(sources[0].content.hash, bytes: 5, pool))
        }
        #expect(try !fixture.holds(sources[0].content.hash))
      }) { session in
        _ = try store.submitPost(
          PostDraft(author: "ada"), sources: sources, definition: .clips(definition), request: nil, session)
      }
      #expect(attempts.withLock(\.self) == 2)
      #expect(try await fixture.count("blob") == 2)
      #expect(try await fixture.count("blob_removal") == 0)
      try await fixture.checkFiles()
    }
  }

  @Test("damage that is recorded after the publication is replaced before the transaction that refers to the content")
  func damagedInBetween() async throws {
    try await StoreFixture.with { fixture in
      let (store, pool) = (fixture.store, fixture.pool)
      try await fixture.submit("front", "back")
      let sources = try fixture.sources("front", "other")
      let attempts = Shared(0)
      try await pool.transaction(preparedBy: {
        try await store.publish(contentOf: sources, pool)
        guard
          attempts.withLock({
            $0 += 1; return $0 == 1
          })
        else { return }
        #expect(truncate(fixture.blobs.location(of: sources[0].content.hash), 2) == 0)
        #expect(try await pool.run { try Damage.note(.truncated, of: sources[0].content.hash, $0) })
      }) { session in
        _ = try store.submitPost(
          PostDraft(author: "ada"), sources: sources, definition: .clips(Definitions.take5Post()), request: nil, session
        )
      }
      #expect(attempts.withLock(\.self) == 2)
      #expect(try await fixture.count("blob_damage") == 0)
      try await fixture.checkFiles()
    }
  }

  @Test(
    "what a transaction does not refer to in the end is collected: one that fails, and the repetition of a submission")
  func unreferenced() async throws {
    struct Refused: Error {}
    try await StoreFixture.with { fixture in
      let sources = try fixture.sources("front", "back")
      await #expect(throws: Refused.self) {
        try await fixture.store.transaction(publishing: sources, fixture.pool) { _ in throw Refused() }
      }
      #expect(try !fixture.holds(sources[0].content.hash) && !fixture.holds(sources[1].content.hash))
      try await fixture.submit("front", "other")
      try await fixture.store.transaction(publishing: sources, fixture.pool) { _ in }
      #expect(try fixture.holds(sources[0].content.hash) && !fixture.holds(sources[1].content.hash))
      try await fixture.checkFiles()
    }
  }

  @Test("what a collector has left is removed by another one, and nothing refers to it before that")
  func interrupted() async throws {
    try await StoreFixture.with { fixture in
      let claim = try await release(fixture)
      _ = try await removal(of: claim, fixture)
      #expect(try fixture.holds(claim.work.moment.front))
      await #expect { try await fixture.submit() } throws: { ($0 as? PostgresError)?.isConflict == true }
      // The process may still be at it.
      try await fixture.collect()
      #expect(try fixture.holds(claim.work.moment.front))
      try await age(fixture)
      try await fixture.collect()
      #expect(try !fixture.holds(claim.work.moment.front) && !fixture.holds(claim.work.moment.back))
      #expect(try await fixture.count("blob_removal") == 0)
      try await fixture.submit()
      try await fixture.checkFiles()
    }
  }

  @Test("a collector that comes back late removes nothing")
  func late() async throws {
    try await StoreFixture.with { fixture in
      let claim = try await release(fixture)
      var removals = try await removal(of: claim, fixture)
      removals.begunAt -= .seconds(21)
      // Another one has performed the removals meanwhile, and the bytes were submitted again.
      try await age(fixture)
      try await fixture.collect()
      try await fixture.submit()
      #expect(try await fixture.store.collecting.finish(removals, fixture.pool).blobs == 0)
      try await fixture.checkFiles()
    }
  }

  @Test("what the storage does not remove is removed when it works again")
  func outage() async throws {
    try await StoreFixture.with { fixture in
      let claim = try await release(fixture)
      var blobs = ObservedBlobStore(fixture.blobs)
      let refused = try claim.work.moment.back
      blobs.onRemove = { hash throws(BlobError) in if hash == refused { throw .unavailable("away") } }
      let store = Store(blobs: blobs, rooms: .all, releasedPause: .zero)
      await #expect(throws: BlobError.self) { try await store.collecting.collectReleased(fixture.pool) }
      #expect(try fixture.holds(refused))
      try await age(fixture)
      try await fixture.collect()
      #expect(try !fixture.holds(refused) && !fixture.holds(claim.work.moment.front))
      #expect(try await fixture.count("blob_removal") == 0)
    }
  }

  @Test("a process that still waits for its storage drops no row, and begins no removal again")
  func notOpen() async throws {
    try await StoreFixture.with { fixture in
      let claim = try await release(fixture)
      let awaited = AwaitedBlobStore(isRemote: false, urlOrigin: nil)
      let collecting = Store(blobs: awaited, rooms: .all, releasedPause: .zero).collecting
      #expect(try await collecting.collectReleased(fixture.pool).examined == 0)
      #expect(try await fixture.count("blob") == 2)
      #expect(try await fixture.count("blob_release") > 0)
      _ = try await removal(of: claim, fixture)
      try await age(fixture)
      #expect(try await collecting.collectReleased(fixture.pool).examined == 0)
      #expect(try await fixture.count("blob_removal WHERE begun_at < now() - interval '1 minute'") == 2)
      awaited.open(fixture.blobs)
      #expect(try await collecting.collectReleased(fixture.pool).blobs == 2)
      #expect(try await fixture.count("blob_removal") == 0)
      #expect(try !fixture.holds(claim.work.moment.front))
    }
  }

  @Test("a removal from the future, by a clock that has stepped back, is one of now")
  func future() async throws {
    try await StoreFixture.with { fixture in
      let claim = try await release(fixture)
      _ = try await removal(of: claim, fixture)
      try await age(fixture, by: "-2 hours")
      try await fixture.collect()
      #expect(try fixture.holds(claim.work.moment.front))
      try await age(fixture)
      try await fixture.collect()
      #expect(try !fixture.holds(claim.work.moment.front))
    }
  }

  @Test("the removal of content whose row has stayed is forgotten when it is overdue")
  func overdueContent() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit()
      let hash = SHA256.digest(of: Array("front".utf8))
      _ = try await fixture.pool.transaction { try fixture.store.collecting.beginRemoval(ofContent: hash, $0) }
      try await age(fixture)
      try await fixture.collect()
      #expect(try await fixture.count("blob_removal") == 0)
      try await fixture.checkFiles()
    }
  }
}
