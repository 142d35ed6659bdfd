import FoundationEssentials
import Model
import Postgres
import Push
import Store
import Testing

@testable import Kit
@testable import Rooms

@Suite("Announcements take turns", .tags(.database), .timeLimit(.minutes(60)))
struct EventTurnTests {
  @Test("a comment is announced to the fifty others who commented last, whatever others wrote since")
  func thread() async throws {
    try await RunningAPI.with { api in
      let post = try await api.insertPost(by: "ada")
      try await Self.fill(post, with: (0..<70).map { "guest-\($0)" } + ["ada", "chatty"], times: 1, api)
      try await Self.fill(post, with: ["chatty", "bob"], times: 20, api)
      try await api.comment(on: post, by: "bob")
      _ = try await Events.dispatch(api.pool)
      #expect(try await EventDispatchTests.count("kind = 'thread_comment'", api) == 50)
      let receivers = try await api.pool.run { session in
        try session.execute("SELECT user_id FROM user_event WHERE kind = 'thread_comment'").map {
          try $0.get("user_id", as: String.self)
        }
      }
      // Of the guests those who came last.
      #expect(Set(receivers) == Set((21..<70).map { "guest-\($0)" } + ["chatty"]))
    }
  }

  @Test(
    "an announcement that waits takes in the next comment of the same thread, and of no other one; what was written stays"
  )
  func count() async throws {
    try await RunningAPI.with { api in
      let posts = [try await api.insertPost(by: "ada"), try await api.insertPost(by: "ada")]
      for post in posts { try await api.comment(on: post, by: "bob") }
      _ = try await Events.dispatch(api.pool)
      for author in ["eve", "kim", "eve"] { try await api.comment(on: posts[0], by: author) }
      try await api.comment(on: posts[1], by: "kim")
      _ = try await Events.dispatch(api.pool)
      let first = try await api.events(2, of: "bob", after: "0-0").filter { $0.name == "thread_comment" }
      #expect(first.map { $0.data["count"] } == [.number(3), .number(1)])
      #expect(first.compactMap { $0.data["user"].text } == ["eve", "kim"])
      try await api.comment(on: posts[0], by: "kim")
      _ = try await Events.dispatch(api.pool)
      let all = try await api.events(3, of: "bob", after: "0-0").filter { $0.name == "thread_comment" }
      #expect(all.prefix(2).map(\.data) == first.map(\.data) && all.last?.data["count"] == .number(1))
    }
  }

  @Test("a comment is announced although the next one is deleted, or its author and a reader have blocked each other")
  func left() async throws {
    try await RunningAPI.with { api in
      let post = try await api.insertPost(by: "ada")
      try await api.comment(on: post, by: "bob")
      _ = try await Events.dispatch(api.pool)
      for author in ["eve", "kim"] { try await api.comment(on: post, by: author) }
      try await api.execute("DELETE FROM comment WHERE author = 'kim'")
      _ = try await Events.dispatch(api.pool)
      for (user, target, kind) in [("bob", "leo", "block"), ("leo", "bob", "blocked")] {
        try await api.execute("INSERT INTO relation (kind, user_id, target) VALUES ('\(kind)', '\(user)', '\(target)')")
      }
      for author in ["max", "leo"] { try await api.comment(on: post, by: author) }
      _ = try await Events.dispatch(api.pool)
      let events = try await api.events(2, of: "bob", after: "0-0").filter { $0.name == "thread_comment" }
      #expect(events.compactMap { $0.data["user"].text } == ["eve", "max"])
    }
  }

  @Test("what waits is placed before the second page of many posts, and a thread waits for one page of their author")
  func turns() async throws {
    try await RunningAPI.with { api in
      let size = Events.audienceLimit
      try await EventDispatchTests.befriend((0..<size * 2).map { "friend-\($0)" }, api)
      for _ in 0..<10 { _ = try await api.insertPost(by: "ada") }
      let post = try await api.insertPost(by: "loner")
      for author in ["bob", "kim"] { try await api.comment(on: post, by: author) }
      #expect(try await Events.passOn(1, api.pool).isPlaced)
      #expect(try await EventDispatchTests.count("kind = 'comment' AND position IS NOT NULL", api) == 2)
      #expect(try await EventDispatchTests.friendEvents(api) == size)
      _ = try await Events.passOn(1, api.pool)
      #expect(try await EventDispatchTests.count("kind = 'thread_comment' AND user_id = 'bob'", api) == 1)
      #expect(try await EventDispatchTests.friendEvents(api) <= size * 2)
      // One that comes while others are at later turns does not go before all of their pages.
      for _ in 0..<9 { _ = try await Events.passOn(1, api.pool) }
      try await api.comment(on: post, by: "eve")
      for _ in 0..<2 { _ = try await Events.passOn(1, api.pool) }
      #expect(try await EventDispatchTests.count("kind = 'thread_comment' AND actor = 'eve'", api) == 2)
      _ = try await Events.dispatch(api.pool)
      #expect(try await EventDispatchTests.friendEvents(api) == size * 20)
    }
  }

  @Test("what is announced an hour too late is read, and neither sent nor shown, and is counted")
  func late() async throws {
    try await UserClient.with { api in
      let webhook = try await api.pool.transaction { session in
        try Devices.announce([(.fcm, nil)], session)
        return try Webhooks.create(url: "https://example.org/", kinds: [.threadComment], session).webhook
      }
      try await PushFixture.register("bob", "", api)
      let post = try await api.insertPost(by: "ada")
      try await api.comment(on: post, by: "bob")
      _ = try await Events.dispatch(api.pool)
      func waiting() async throws -> [Int] {
        try await api.pool.run { session in
          try [
            "SELECT count(*) FROM webhook_delivery", "SELECT count(*) FROM push_delivery",
            "SELECT late FROM event_position",
            "SELECT count(*) FROM user_event WHERE kind = 'thread_comment' AND position IS NOT NULL",
          ].map { try session.execute($0).single().get(0) }
        }
      }
      #expect(try await waiting() == [0, 0, 0, 0])
      for (isLate, expected) in [(true, [0, 0, 1, 1]), (false, [1, 1, 1, 2])] {
        try await api.comment(on: post, by: "eve")
        if isLate {
          try await api.pool.run { session in
            try session.executeScript("UPDATE announcement SET created_at = now() - interval '2 hours'", name: "late")
          }
        }
        _ = try await Events.dispatch(api.pool)
        #expect(try await waiting() == expected, "\(webhook.id)")
      }
    }
  }

  /// Inserts comments of some users on a post, in turn, without announcing them.
  private static func fill(_ post: PublicID, with authors: [String], times: Int, _ api: RunningAPI) async throws {
    try await api.pool.run { session in
      _ = try session.execute(
        """
        INSERT INTO comment (public_id, author, text, post_id)
        SELECT gen_random_uuid(), author, 'Nice', (SELECT id FROM post WHERE public_id = $2::uuid)
        FROM generate_series(1, $3::int) AS round, unnest($1::text[]) WITH ORDINALITY AS given (author, place)
        ORDER BY round, place
        """, .texts(authors), .text(post.description), .integer(times))
    }
  }
}
