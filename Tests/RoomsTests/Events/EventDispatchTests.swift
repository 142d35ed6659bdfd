import FoundationEssentials
import HTTPTesting
import Model
import Postgres
import PostgresTesting
import Store
import StoreTesting
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

@Suite("From an event to its receivers", .tags(.database, .network), .timeLimit(.minutes(60)))
struct EventDispatchTests {
  @Test("a back-end's key reads the events of all users, each once, in one order, across reconnections")
  func everyone() async throws {
    try await RunningAPI.with { api in
      let posts = [try await api.insertPost(by: "ada"), try await api.insertPost(by: "bob")]
      async let writing: Void = withThrowingTaskGroup { group in
        for writer in 0..<4 {
          group.addTask {
            for index in 0..<20 {
              try await api.comment(on: posts[(writer + index) % 2], by: "writer-\(writer)")
              if index % 4 == 0 { _ = try await Events.dispatch(api.pool) }
            }
          }
        }
        try await group.waitForAll()
      }
      var events: [EventReader.Event] = []
      let own = { events.filter { $0.name == "comment" } }
      let deadline = Deadline("80 comments")
      while own().count < 80 {
        try deadline.check()
        _ = try await Events.dispatch(api.pool)
        // An event without a position reaches no reader, and after its last comment no writer gives it one.
        let placed = try await Self.count("position IS NOT NULL", api)
        events += try await api.events(min(5, placed - events.count), of: nil, after: events.last?.id ?? "0-0")
      }
      try await writing
      #expect(Set(own().compactMap { $0.data["comment"].text }).count == 80)
      let ids = events.compactMap { $0.id.split(separator: "-").first }.compactMap { Int($0) }
      #expect(ids == ids.sorted() && Set(ids).count == ids.count)
      #expect(Set(own().compactMap { $0.data["receiver"].text }) == ["ada", "bob"])
    }
  }

  @Test("friends learn of a post that is ready, once, unless they may not see it, are blocked or being deleted")
  func friends() async throws {
    try await RunningAPI.with { api in
      try await Self.befriend(["bob", "eve", "kim"], api)
      for (visibility, count) in [(Visibility.private, 0), (.friends, 3), (.public, 3)] {
        let before = try await Self.friendEvents(api)
        let post = try await api.insertPost(by: "ada", visibility: visibility)
        for _ in 0..<2 {
          try await api.pool.transaction { try Events.note(.ready, of: post, $0) }
          _ = try await Events.dispatch(api.pool)
        }
        #expect(try await Self.friendEvents(api) == before + count, "\(visibility)")
      }
      _ = try await api.insertPost(by: "ada")
      #expect(try await UserClient.send("PUT", "/v1/users/eve/blocks/ada", [], nil, api).status == 200)
      let before = try await Self.friendEvents(api)
      _ = try await Events.dispatch(api.pool)
      #expect(try await Self.friendEvents(api) == before + 2)
    }
  }

  /// What is to be passed on: the acts by which it comes, each in a transaction.
  private static let acts: [(name: String, isWaking: Bool, act: @Sendable (RunningAPI, Session) throws -> Void)] = [
    (
      "a post without media, of a user without friends", false,
      { api, session in
        _ = try api.submitPost(by: "loner", session)
      }
    ),
    (
      "a private post without media", false,
      { api, session in
        _ = try api.submitPost(by: "ada", visibility: .private, session)
      }
    ),
    ("a post without media", true, { api, session in _ = try api.submitPost(by: "ada", session) }),
    (
      "a post for friends without media", true,
      { api, session in
        _ = try api.submitPost(by: "ada", visibility: .friends, session)
      }
    ),
    (
      "a comment after another user's", true,
      { api, session in
        let post = try api.submitPost(by: "loner", visibility: .public, session)
        for author in ["bob", "eve"] {
          _ = try Comments.insert(on: .post(post), for: .unrestricted, author: author, text: "Nice", session)
        }
      }
    ),
    (
      "a message that is to be sent again", true,
      { _, session in
        let webhook = try Webhooks.create(url: "https://example.org/", kinds: [.comment], session).webhook
        _ = try Webhooks.replayFailed(since: .distantPast, to: webhook.id, session)
      }
    ),
  ]

  @Test("whatever is to be passed on is announced to the worker that does so, after its commit")
  func announced() async throws {
    try await RunningAPI.with { api in
      try await Self.befriend(["bob"], api)
      for (name, isWaking, act) in Self.acts {
        let payloads = try await api.notifications { try act(api, $0) }
        #expect(payloads.contains("") == isWaking, "\(name): \(payloads)")
      }
    }
  }

  static func befriend(_ friends: [String], _ api: RunningAPI) async throws {
    try await api.pool.transaction { session in
      for names in ["'ada', friend", "friend, 'ada'"] {
        try session.execute(
          "INSERT INTO relation (kind, user_id, target) SELECT 'friend', \(names) FROM unnest($1::text[]) AS friend",
          .texts(friends))
      }
    }
  }

  static func friendEvents(_ api: RunningAPI) async throws -> Int {
    try await count("kind = 'friend_posted' AND actor = 'ada'", api)
  }

  static func count(_ condition: String, _ api: RunningAPI) async throws -> Int {
    try await api.pool.run { session in
      try session.execute("SELECT count(*) FROM user_event WHERE \(condition)").single().get(0)
    }
  }

  @Test(
    "an audience of more than a page is notified in several transactions, and each user once, although one of them fails"
  )
  func pages() async throws {
    try await RunningAPI.with { api in
      let count = Events.audienceLimit * 2 + 7
      try await Self.befriend((0..<count).map { "friend-\($0)" }, api)
      _ = try await api.insertPost(by: "ada", visibility: .friends)
      struct Lost: Error {}
      var pages = 0
      let deadline = Deadline("the last page of the audience")
      while true {
        try deadline.check()
        await #expect(throws: Lost.self) {
          try await api.pool.transaction { session in
            _ = try Events.announceNext(session)
            throw Lost()
          }
        }
        guard try await api.pool.transaction(Events.announceNext) else { break }
        pages += 1
      }
      #expect(pages == 4)
      #expect(try await Self.friendEvents(api) == count)
      // Each user has one.
      #expect(try await Self.count("kind = 'friend_posted' AND number > 1", api) == 0)
    }
  }

  @Test(
    "who commented on a post, and the members of a collection, learn of further comments; a member learns of the collection"
  )
  func threads() async throws {
    try await RunningAPI.with { api in
      let post = try await api.insertPost(by: "ada")
      for author in ["bob", "eve", "bob"] {
        try await api.comment(on: post, by: author)
        _ = try await Events.dispatch(api.pool)
      }
      // The comment of eve is for bob, and the last of bob for eve.
      for user in ["bob", "eve"] {
        #expect(try await api.events(1, of: user, after: "0-0").map(\.name) == ["thread_comment"])
      }
      #expect(try await Self.count("kind = 'thread_comment'", api) == 2)
      for user in ["ada", "kim"] {
        _ = try await UserClient.send("PUT", "/v1/users/\(user)", [("Take5-User", user)], "{}", api)
      }
      let list = try await UserClient.send(
        "POST", "/v1/collections", [("Take5-User", "ada")], #"{"kind":"itinerary","name":"Summer"}"#, api)
      let id = try #require(list.json["id"].text)
      let shared = try await UserClient.send(
        "PUT", "/v1/collections/\(id)/members/kim", [("Take5-User", "ada")], #"{"role":"viewer"}"#, api)
      #expect(shared.status < 300)
      let comment = try await UserClient.send(
        "POST", "/v1/collections/\(id)/comments", [], #"{"author":"kim","text":"lovely"}"#, api)
      #expect(comment.status == 201)
      _ = try await Events.dispatch(api.pool)
      let ofKim = try await api.events(1, of: "kim", after: "0-0")
      #expect(ofKim.map(\.name) == ["collection_shared"])
      #expect(ofKim.first?.data["collection"] == .string(id))
      let ofAda = try await api.events(4, of: "ada", after: "0-0").last
      #expect(ofAda?.name == "collection_comment" && ofAda?.data["collection"] == .string(id))
    }
  }

  @Test("the stream of all needs the scope events, the stream of a user does not")
  func scope() async throws {
    try await RunningAPI.with { api in
      let (reader, listener) = ("t5-reader", "t5-listener")
      _ = try await api.createKey(reader, [.read])
      _ = try await api.createKey(listener, [.read, .events])
      func status(_ key: String, _ fields: [(String, String)] = []) async throws -> Int {
        try await request("HEAD", "/v1/events", port: api.port, headers: [("Authorization", "Bearer \(key)")] + fields)
          .status
      }
      #expect(try await status(listener) == 200)
      #expect(try await status(reader) == 403)
      #expect(try await status(reader, [("Take5-User", "ada")]) == 200)
      #expect(try await status(listener, [("Take5-User", "ada")]) == 200)
      // No client acts as the reader of all.
      for name in [UserEvent.everyone, UserEvent.service] {
        #expect(try await status(reader, [("Take5-User", name.replacing(" ", with: "%20"))]) == 400)
      }
    }
  }
}
