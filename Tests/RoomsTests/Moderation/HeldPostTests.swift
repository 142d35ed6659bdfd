import Definitions
import FoundationEssentials
import Model
import Postgres
import Queue
import StoreTesting
import Testing

@testable import Kit
@testable import Rooms
@testable import Store

@Suite("Posts that are held", .tags(.database), .timeLimit(.minutes(60)))
struct HeldPostTests {
  private static func hold(_ post: PublicID, _ fixture: StoreFixture) async throws {
    try await fixture.pool.run { session in
      _ = try session.execute(
        "UPDATE post SET moderation = 'hold', is_moderated = true WHERE public_id = $1::uuid", .text("\(post)"))
    }
  }

  private static func events(of user: String, _ fixture: StoreFixture) async throws -> [String] {
    try await fixture.pool.run {
      try Events.list(of: user, after: 0, limit: 10, $0).map(\.kind)
    }
  }

  @Test("what a worker publishes is held where the post says so, and a version that knows nothing of it cannot show it")
  func publishing() async throws {
    try await StoreFixture.with { fixture in
      let post = try await fixture.submit()
      try await Self.hold(post, fixture)
      let seen = try await fixture.pool.run { try Posts.find(post, for: .user("bob"), $0) }
      #expect(seen == nil)
      try await fixture.publish(fixture.claim())
      #expect(try await fixture.post(post).status == .held)
      #expect(try await Self.events(of: "ada", fixture) == ["post_held"])
      #expect(try await Self.events(of: Moderation.moderators, fixture) == ["case_opened"])
      let opened = try await fixture.pool.run { try Moderation.list(.open, PageRequest(), $0).items }
      #expect(opened.map(\.subject) == [.post(post)] && opened.map(\.cause) == [.held])
      // The time of a UUID of version 7, which the database has made.
      #expect(abs((opened.first?.id.seconds ?? 0) - (opened.first?.createdAt.timeIntervalSince1970 ?? 9)) < 60)
      try await fixture.pool.run { session in
        _ = try session.execute("UPDATE post SET status = 'ready' WHERE status = 'held'")
      }
      #expect(try await fixture.post(post).status == .held)
      #expect(try await fixture.count("app_user WHERE public_posts > 0") == 0)
      #expect(try await fixture.count("moderation_case") == 1)
    }
  }

  @Test("a decision before the media are ready holds when they are, and a failed post can be retried")
  func early() async throws {
    try await StoreFixture.with { fixture in
      let pool = fixture.pool
      func decide(_ post: PublicID, _ decision: ModerationDecision) async throws {
        try await pool.transaction { session in
          let opened = try #require(try Moderation.openCase(about: .post(post), session)).opened
          _ = try Moderation.decide(opened.id, decision, by: nil, note: nil, session)
        }
      }
      let hidden = try await fixture.submit("a", "b")
      try await decide(hidden, .hide)
      #expect(try await fixture.post(hidden).status == .processing)
      let seen = try await pool.run { try Posts.find(hidden, for: .user("bob"), $0) }
      #expect(seen == nil)
      try await fixture.publish(fixture.claim(), "1")
      #expect(try await fixture.post(hidden).status == .hidden)
      #expect(try await Self.events(of: "ada", fixture) == ["post_hidden"])
      let approved = try await fixture.submit("c", "d")
      try await Self.hold(approved, fixture)
      try await decide(approved, .approve)
      let claim = try await fixture.claim()
      try await pool.transaction { try JobControl.fail(jobs: [claim.job.publicID], $0) }
      #expect(try await fixture.post(approved).status == .failed)
      try await pool.run { _ = try $0.execute("UPDATE post SET status = 'processing' WHERE status = 'failed'") }
      try await fixture.publish(claim, "2")
      #expect(try await fixture.post(approved).status == .ready)
      // The outputs of a hidden post are made again as those of others are.
      let request = ReprocessRequest(
        ReprocessSelection(), definitions: [.take5: [try StoredDefinition(Definitions.take5Post())]])
      let groups = try await pool.run { try Reprocessing.summarize(request, $0) }
      #expect(groups.map(\.subjects).reduce(0, +) == 2)
    }
  }
}
