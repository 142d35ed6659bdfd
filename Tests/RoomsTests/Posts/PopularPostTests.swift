import HTTPTesting
import Model
import Postgres
import Queue
import StoreTesting
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms
@testable import Store

@Suite("The deletion of a popular post", .tags(.database, .network), .timeLimit(.minutes(60)))
struct PopularPostTests {
  private static let (likes, comments, items) = (2_500, 2_500, 1_500)

  /// Likes, comments and collections of a post, of a user each.
  private static func rows(of post: PublicID) -> String {
    """
    INSERT INTO relation (kind, user_id, target) SELECT 'like', 'fan ' || n, '\(post)' FROM generate_series(1, \(likes)) AS n;
    INSERT INTO comment (public_id, post_id, author, text)
    SELECT gen_random_uuid(), post.id, 'fan ' || n, 'Nice' FROM post, generate_series(1, \(comments)) AS n;
    UPDATE post SET comment_count = \(comments);
    INSERT INTO collection (public_id, kind, author, name, fields)
    SELECT gen_random_uuid(), 'favourites', 'fan ' || n, 'Best', '{}' FROM generate_series(1, \(items)) AS n;
    INSERT INTO collection_item (collection_id, position, post_id, fields) SELECT collection.id, 0, post.id, '{}' FROM collection, post
    """
  }

  private static func rowsLeft(_ fixture: StoreFixture) async throws -> Int {
    var left = 0
    for table in ["relation", "comment", "collection_item"] { left += try await fixture.count(table) }
    return left
  }

  @Test("the post is gone at once, and its likes, comments and items go in pages, whatever interrupts these")
  func pages() async throws {
    try await StoreFixture.with { fixture in
      let (pool, store) = (fixture.pool, fixture.store)
      let post = try await fixture.submit()
      try await fixture.publish(fixture.claim())
      let script = Self.rows(of: post)
      try await pool.run { try $0.executeScript(script, name: "rows") }
      let isDeleted = try await pool.transaction { try Posts.delete(post, for: .unrestricted, $0) }
      #expect(isDeleted)
      let found = try await pool.run { try Posts.find(post, for: .unrestricted, $0) }
      #expect(found == nil)
      for table in ["post WHERE author = 'ada'", "asset", "app_user WHERE public_posts <> 0"] {
        #expect(try await fixture.count(table) == 0, "\(table)")
      }
      // Nothing but the post went with it.
      var left = try await Self.rowsLeft(fixture)
      #expect(left == Self.likes + Self.comments + Self.items)
      #expect(try await Self.wrongRows(fixture) == [])
      let deadline = Deadline("the last page")
      while true {
        try deadline.check()
        let claimed = try await pool.run { session in
          let worker = try JobQueue.register(host: "here", process: 1, session)
          return try JobQueue.claim(worker: worker, queue: JobKinds.taskQueue, limit: 1, session).first
        }
        let job = try #require(claimed)
        await #expect(throws: CancellationError.self) {
          try await pool.transaction { session in
            try store.perform(job, session)
            throw CancellationError()
          }
        }
        #expect(try await Self.rowsLeft(fixture) == left)
        let step = try await pool.transaction { session in
          let step = try store.perform(job, session)
          if step == .batch {
            try JobQueue.release(job, session)
          } else {
            try JobQueue.complete(job, .accepted, result: nil, session)
          }
          return step
        }
        let now = try await Self.rowsLeft(fixture)
        #expect(left - now <= 2 * ForgettingStep.rows)
        left = now
        #expect(try await Self.wrongRows(fixture) == [])
        if step == .last { break }
      }
      for table in [
        "post", "relation", "comment", "collection_item", "collection WHERE item_count <> 0", "forgetting",
        "job WHERE kind = 'forget'",
      ] {
        #expect(try await fixture.count(table) == 0, "\(table)")
      }
      #expect(try await fixture.count("collection") == Self.items)
    }
  }

  /// What the checks of likes and counters find.
  private static func wrongRows(_ fixture: StoreFixture) async throws -> [String] {
    try await fixture.pool.run { session in
      let relations = People.statements["check_relations"].filled("posts", ["posts": "'like'"])
      return try [relations, Posts.statements["check_posts"]].flatMap { check in
        try session.execute(check, .text(""), .integer(10_000)).compactMap { try $0.get("code", as: String?.self) }
      }
    }
  }

  @Test("what counted a post no longer counts it, and its place keeps its words, however many like it")
  func counters() async throws {
    try await UserClient.with { api in
      for likes in [1, 1_100] {
        let body = #"""
          {"kind":"marker","title":"Here","author":"ada","visibility":"public",
          "place":{"id":"bar-\#(likes)","name":"Bar","coordinate":{"latitude":1,"longitude":2}}}
          """#
        let stored = try await UserClient.send("POST", "/v1/posts", UserClient.backend, body, api)
        let path = try #require(stored.headers["location"])
        let post = try #require(path.split(separator: "/").last)
        let script = """
          INSERT INTO relation (kind, user_id, target)
          SELECT 'like', 'fan ' || n, '\(post)' FROM generate_series(1, \(likes)) AS n
          """
        try await api.pool.run { try $0.executeScript(script, name: "likes") }
        #expect(try await UserClient.send("DELETE", path, UserClient.backend, nil, api).status == 204)
        #expect(try await UserClient.send("GET", path, UserClient.backend, nil, api).status == 404)
      }
      let list = try await UserClient.send("GET", "/v1/posts?author=ada", UserClient.backend, nil, api)
      #expect(list.status == 200 && list.json["items"].elements.isEmpty)
      for (table, rows) in [
        ("place WHERE post_count <> 0 OR author_count <> 0", 0),
        ("(SELECT DISTINCT name, latitude, longitude FROM place) AS said", 1),
        ("app_user WHERE id = 'ada' AND public_posts = 0 AND private_posts = 0", 1), ("map_activity", 0),
        ("job WHERE kind = 'forget'", 1), ("post", 1),
      ] {
        let count = try await api.pool.run { session in
          try session.execute("SELECT count(*) FROM \(table)").single().get(0, as: Int.self)
        }
        #expect(count == rows, "\(table)")
      }
    }
  }
}
