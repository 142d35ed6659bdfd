import Crypto
import Definitions
import Integrity
import Model
import Postgres
import Queue
import Store
import Testing

@Suite("Integrity of first looks", .tags(.database), .timeLimit(.minutes(60)))
struct LookTests {
  /// Shows the look of the only post that has none.
  private static func show(_ name: String, _ fixture: IntegrityFixture) async throws {
    let outputs = try fixture.outputs(name).filter { [.clipFront, .clipBack, .image].contains($0.role) }
    let store = fixture.store
    try await store.transaction(publishing: outputs, fixture.pool) { session in
      let worker = try JobQueue.register(host: "here", process: 1, session)
      let job = try #require(try JobQueue.claim(worker: worker, queue: LookJob.queue, limit: 1, session).first)
      try store.publish(
        outputs, of: #require(try store.work(for: job, session)), recipe: SHA256.digest(of: [9]), job: job,
        verdict: Verdict(reasons: [], inputs: [:], decisions: []), seconds: 1, session)
    }
  }

  @Test("the look of a post is complete, no garbage, and nothing is left of it after the grace period")
  func processing() async throws {
    try await IntegrityFixture.with { fixture in
      let post = try await fixture.submit("a")
      try await Self.show("a", fixture)
      #expect(try await fixture.codes() == [])
      _ = try await fixture.collect(grace: .zero)
      let seen = try await fixture.post(post).assets
      #expect(seen.count == 3)
      #expect(try await fixture.codes() == [])

      try await fixture.work("a")
      #expect(try await fixture.codes() == [])
      _ = try await fixture.collect()
      #expect(try await fixture.count("asset_set") == 3)
      _ = try await fixture.collect(grace: .zero)
      #expect(try await fixture.count("asset_set") == 2)
      #expect(try await fixture.codes() == [])
      // All files of the look are files of the outputs.
      let kept = try await fixture.post(post).assets
      for asset in seen.values { #expect(kept[asset.role]?.sha256 == asset.sha256) }
    }
  }

  @Test("a rejection after a look leaves nothing of it")
  func rejected() async throws {
    try await IntegrityFixture.with { fixture in
      let post = try await fixture.submit("a")
      try await Self.show("a", fixture)
      let store = fixture.store
      try await fixture.pool.transaction { session in
        let worker = try JobQueue.register(host: "here", process: 1, session)
        let job = try #require(try JobQueue.claim(worker: worker, queue: PostJob.queue, limit: 1, session).first)
        try store.reject(
          #require(try store.work(for: job, session)), job: job,
          verdict: Verdict(
            reasons: [Reason(.corruptVideo, input: .front, detail: "broken")], inputs: [:], decisions: []), session)
      }
      try await store.collecting.collectReleased(fixture.pool)
      #expect(try await fixture.codes() == [])
      #expect(try await fixture.post(post).assets.isEmpty)
      #expect(try await fixture.count("asset_set") == 1)
      #expect(try await fixture.count("blob") == 2)
    }
  }

  @Test("a post with a look whose job is lost gets another one, and is not ready by its look")
  func lostJob() async throws {
    try await IntegrityFixture.with { fixture in
      let post = try await fixture.submit("a")
      try await Self.show("a", fixture)
      try await fixture.sql("DELETE FROM job")
      #expect(try await fixture.codes() == [.jobMissing])
      #expect(try await fixture.repair().isEmpty)
      #expect(try await fixture.codes() == [])
      #expect(try await fixture.post(post).status == .processing)
      #expect(try await fixture.post(post).assets.count == 3)
      #expect(try await fixture.count("job") == 1)
      try await fixture.work("a")
      #expect(try await fixture.post(post).status == .ready)
      #expect(try await fixture.codes() == [])
    }
  }
}
