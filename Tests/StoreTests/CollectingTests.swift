import Crypto
import Model
import Postgres
import Queue
import Store
import Testing

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
        while try await fixture.count("job") > 0 {
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
      let collector = try await fixture.pool.transaction { session in
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

  @Test("the next submission repairs the row that a collector left without a file")
  func rowWithoutFile() async throws {
    struct Interrupted: Error {}
    try await StoreFixture.with { fixture in
      try await fixture.submit()
      let claim = try await fixture.claim()
      try await fixture.pool.transaction { session in
        try fixture.keepingNone.reject(claim.work, job: claim.job, verdict: refused, session)
      }
      await #expect(throws: Interrupted.self) {
        let released = try await fixture.pool.transaction { try fixture.store.released(limit: 100, $0) }
        try await fixture.pool.transaction { session in
          _ = try fixture.store.collect(released, session)
          throw Interrupted()
        }
      }
      #expect(try await fixture.count("blob") == 2)
      #expect(try !fixture.holds(claim.work.moment.front))

      try await fixture.submit()
      try await fixture.checkFiles()
      // The release is still recorded, but the blobs have references again and stay.
      try await fixture.collect()
      #expect(try await fixture.count("blob") == 2)
      try await fixture.checkFiles()
    }
  }
}
