import Blobs
import Crypto
import FoundationEssentials
import Model
import Postgres
import Queue
import Rooms
import Store
import StoreTesting
import Testing

@Suite("What a run of reprocessing selects", .tags(.database))
struct ReprocessingSelectionTests {
  @Test("a selection applies its filters")
  func selecting() async throws {
    try await StoreFixture.with { fixture in
      let first = try await fixture.ready("first")
      let second = try await fixture.ready("second", author: "grace")
      // A post without sources, and one that is processing: neither is selected.
      _ = try await fixture.ready("third", adjusting: { $0.keepSources = false })
      _ = try await fixture.submit("fourth front", "fourth back")
      func subjects(_ change: (inout ReprocessSelection) -> Void) async throws -> Int {
        var selection = ReprocessSelection()
        change(&selection)
        return try await fixture.summarize(selection).reduce(0) { $0 + $1.subjects }
      }
      #expect(try await subjects { _ in } == 2)
      #expect(try await fixture.withoutSources() == 1)
      #expect(try await subjects { $0.kinds = [.photo] } == 0)
      #expect(try await subjects { $0.kinds = [.take5] } == 2)
      #expect(try await subjects { $0.author = "grace" } == 1)
      #expect(try await subjects { $0.ids = [first, .now()] } == 1)
      #expect(try await subjects { $0.ids = [] } == 0)
      #expect(try await subjects { $0.limit = 1 } == 1)
      #expect(try await subjects { $0.definition = "take5-post" } == 2)
      #expect(try await subjects { $0.definition = "other" } == 0)
      #expect(try await subjects { $0.versionBelow = 1 } == 0)
      #expect(try await subjects { $0.versionBelow = 1000 } == 2)
      #expect(try await subjects { $0.missing = .composed } == 0)
      #expect(try await subjects { $0.missing = .poster } == 2)
      #expect(try await subjects { $0.createdAfter = Date() + 60 } == 0)
      #expect(try await subjects { $0.createdBefore = Date() + 60 } == 2)
      #expect(try await subjects { $0.statuses = [.failed] } == 0)
      #expect(try await subjects { $0.error = "disk" } == 0)
      let run = try await fixture.startRun { $0.selection.ids = [second] }
      try await fixture.schedule()
      let claim = try await fixture.claim(from: ReprocessJob.queue)
      try await fixture.pool.run { session in
        try Reprocessing.end(itemOf: claim.job.publicID, .failed("The Disk is full"), session)
      }
      #expect(try await fixture.counts(run).failed == 1)
      #expect(try await subjects { $0.error = "disk" } == 1)
    }
  }

  @Test("a run makes a post ready whose job was cancelled")
  func reviving() async throws {
    try await StoreFixture.with { fixture in
      let post = try await fixture.submit()
      let claim = try await fixture.claim()
      try await fixture.pool.transaction { session in
        try JobQueue.complete(claim.job, .cancelled, result: nil, session)
        try JobControl.fail(job: claim.job.publicID, session)
      }
      #expect(try await fixture.post(post).status == .failed)
      let run = try await fixture.startRun { $0.selection.statuses = [.failed] }
      try await fixture.schedule()
      try await fixture.publish(fixture.claim(from: ReprocessJob.queue), "first")
      #expect(try await fixture.post(post).status == .ready)
      #expect(try await fixture.counts(run).done == 1)
    }
  }

  @Test("outputs of the same recipe are up to date, unless one of them is recorded as damaged")
  func damaged() async throws {
    try await StoreFixture.with { fixture in
      let (store, blobs) = (fixture.store, fixture.blobs)
      _ = try await fixture.ready("first")
      let recipe = SHA256.digest(of: [1])
      _ = try await fixture.startRun()
      #expect(try await fixture.schedule() == 1)
      let claim = try await fixture.claim(from: ReprocessJob.queue)
      #expect(try claim.work.hasOutputs(of: recipe, in: blobs))
      let work = try await fixture.pool.run { session in
        _ = try Damage.note(.corrupt, of: SHA256.digest(of: Array("composed first".utf8)), session)
        return try store.work(for: claim.job, session)
      }
      #expect(try work?.hasOutputs(of: recipe, in: blobs) == false)
    }
  }
}
