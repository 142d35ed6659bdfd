import BoxTesting
import HTTPTesting
import Model
import Platform
import Postgres
import PostgresTesting
import Queue
import Store
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms

@Suite("Events of a user", .tags(.database, .network), .timeLimit(.minutes(60)))
struct UserEventTests {
  @Test("a user receives what others do, in order, with and without a listening connection", arguments: [true, false])
  func comments(listens: Bool) async throws {
    var setting = RunningAPI.Setting()
    setting.listens = listens
    try await RunningAPI.with(setting) { api in
      let post = try await api.insertPost(by: "ada")
      async let live = api.events(3, of: "ada")
      // The stream exists, so that the comments reach it by notifications or by polling.
      try await Self.untilStreams(1, api)
      for author in ["bob", "ada", "eve"] { try await api.comment(on: post, by: author) }
      let events = try await live
      #expect(events.map(\.name) == ["start", "comment", "comment"])
      #expect(events.map(\.id) == ["0-0", "1-0", "2-0"])
      #expect(events.dropFirst().compactMap { $0.data["user"].text } == ["bob", "eve"])
      #expect(events[1].data["post"] == .string("\(post)"))
      let comment = try #require(events[2].data["comment"].text)
      #expect(try await api.get("/v1/posts/\(post)/comments/\(comment)").json["author"] == .string("eve"))
      // A client that comes back gets what it lacks, by header field or parameter.
      #expect(try await api.events(1, of: "ada", after: "1-0").map(\.id) == ["2-0"])
      let path = "/v1/events?last_event_id=0-0"
      #expect(try await api.events(2, of: "ada", path: path).map(\.id) == ["1-0", "2-0"])
    }
  }

  /// Waits until this number of streams is open.
  private static func untilStreams(_ count: Int, _ api: RunningAPI) async throws {
    try await until { api.changes.streams.count == count }
  }

  @Test("nothing is lost and nothing comes twice, while users comment at once and the client reconnects")
  func resuming() async throws {
    try await RunningAPI.with { api in
      let posts = [try await api.insertPost(by: "ada"), try await api.insertPost(by: "ada")]
      let (writers, each) = (6, 25)
      async let writing: Void = withThrowingTaskGroup { group in
        for writer in 0..<writers {
          group.addTask {
            for index in 0..<each {
              // Every fifth transaction rolls back: its number is used by another.
              if index % 5 == 0 {
                _ = try? await api.pool.transaction { session in
                  try Store.notify("ada", of: .like, by: "writer-\(writer)", post: posts[0], session)
                  throw CancellationError()
                }
              }
              try await api.comment(on: posts[(writer + index) % 2], by: "writer-\(writer)")
            }
          }
        }
        try await group.waitForAll()
      }
      var events: [EventReader.Event] = []
      let deadline = Deadline("the events of all comments")
      while events.count < writers * each {
        try deadline.check()
        let wanted = min(7, writers * each - events.count)
        events += try await api.events(wanted, of: "ada", after: events.last?.id ?? "0-0")
      }
      try await writing
      #expect(events.map(\.id) == (1...writers * each).map { "\($0)-0" })
      #expect(Set(events.compactMap { $0.data["comment"].text }).count == writers * each)
      #expect(events.allSatisfy { $0.name == "comment" })
    }
  }

  @Test("the author of a post receives an event when its media are ready, rejected or failed, and when a reaction is")
  func media() async throws {
    try await RunningAPI.with { api in
      let post = try #require(try await api.submit(.moment()).json["id"].text)
      try await WaitingTests.end(api)
      var form = MultipartForm()
      form.add("image", filename: "a.jpg", contentType: "image/jpeg", PhotoSubmissionTests.jpeg)
      form.add("author", contentType: "text/plain", Array("bob".utf8))
      let reaction = try await request(
        "POST", "/v1/posts/\(post)/reactions", port: api.port, headers: [("Content-Type", form.contentType)],
        body: form.bytes)
      #expect(reaction.status == 202)
      try await WaitingTests.end(api)
      _ = try await api.submit(.moment(front: boxedClip(seed: 3)))
      try await Self.reject(api)
      let failed = try #require(
        try await api.submit(.moment(front: boxedClip(seed: 4))).json["job"]["id"].text.flatMap { PublicID($0) })
      _ = try await api.pool.transaction { try JobControl.cancel(job: failed, $0) }
      let events = try await api.events(4, of: "ada", after: "0-0")
      #expect(events.map(\.name) == ["post_ready", "reaction", "post_rejected", "post_failed"])
      #expect(events[0].data["post"] == .string(post) && events[0].data["user"] == .null)
      #expect(events[1].data["user"] == .string("bob") && events[1].data["image"] == reaction.json["id"])
    }
  }

  @Test("requests for friendship, their acceptance and likes are events, once, and not of blocked users")
  func relations() async throws {
    try await RunningAPI.with { api in
      let post = try await api.insertPost(by: "ada")
      func put(_ path: String) async throws {
        #expect(try await UserClient.send("PUT", path, [], nil, api).status == 200, "\(path)")
      }
      for _ in 0..<2 {
        try await put("/v1/users/bob/friends/ada")
        try await put("/v1/users/bob/likes/\(post)")
      }
      try await put("/v1/users/ada/friends/bob")
      try await put("/v1/users/eve/likes/\(post)")
      let ofAda = try await api.events(3, of: "ada", after: "0-0")
      #expect(ofAda.map(\.name) == ["friend_request", "like", "like"])
      #expect(ofAda.compactMap { $0.data["user"].text } == ["bob", "bob", "eve"])
      #expect(try await api.events(1, of: "bob", after: "0-0").map(\.name) == ["friend_accepted"])
      // A block hides what was stored before, and nothing more is stored.
      try await put("/v1/users/ada/blocks/bob")
      try await api.comment(on: post, by: "bob")
      try await api.comment(on: post, by: "eve")
      #expect(try await api.events(2, of: "ada", after: "0-0").map(\.id) == ["3-0", "4-0"])
    }
  }

  private static func reject(_ api: RunningAPI) async throws {
    try await api.pool.transaction { [store = api.store] session in
      let worker = try JobQueue.register(host: "test", process: 1, session)
      let job = try #require(try JobQueue.claim(worker: worker, queue: PostJob.queue, limit: 1, session).first)
      let work = try #require(try store.work(for: job, session))
      try store.reject(work, job: job, verdict: Verdict(reasons: [], inputs: [:], decisions: []), session)
    }
  }

  @Test("everyone receives an event when the window opens and closes, also who was away")
  func windows() async throws {
    try await RunningAPI.with { api in
      async let live = api.events(3, of: "ada")
      try await Self.untilStreams(1, api)
      try await api.openWindow()
      try await api.execute("UPDATE daily_window SET closes_at = clock_timestamp() WHERE id = 1")
      let events = try await live
      #expect(events.map(\.name) == ["start", "window_opened", "window_closed"])
      #expect(events.map(\.id) == ["0-0", "0-2", "0-3"])
      #expect(events[1].data["open"] == .boolean(true) && events[2].data["open"] == .boolean(false))
      try await api.openWindow()
      #expect(try await api.events(2, of: "bob", after: "0-2").map(\.id) == ["0-3", "0-4"])
      // A position that the database does not know, after a restoration.
      try await Self.untilStreams(0, api)
      async let unknown = api.events(1, of: "bob", after: "0-99")
      try await Self.untilStreams(1, api)
      try await api.openWindow()
      #expect(try await unknown.map(\.id) == ["0-6"])
    }
  }

  @Test("a client that lacks events which are no longer stored receives reset")
  func reset() async throws {
    try await RunningAPI.with { api in
      let post = try await api.insertPost(by: "ada")
      for _ in 0..<3 { try await api.comment(on: post, by: "bob") }
      try await api.execute("UPDATE user_event SET created_at = created_at - interval '8 days' WHERE number < 3")
      let dropped = try await api.pool.run { session in try Events.dropOld(session) }
      #expect(dropped == 2)
      let left = try await api.events(2, of: "ada", after: "0-0")
      #expect(left.map(\.name) == ["reset", "comment"])
      #expect(left.map(\.id) == ["2-0", "3-0"])
      #expect(try await api.events(1, of: "ada", after: "2-0").map(\.name) == ["comment"])
      try await api.execute("DELETE FROM user_event")
      #expect(try await api.events(1, of: "ada", after: "1-0").map(\.id) == ["3-0"])
      // An id of another database, or of a user of the same name who was deleted.
      let unknown = try await api.events(1, of: "ada", after: "9-0")
      #expect(unknown.map(\.name) == ["reset"] && unknown.map(\.id) == ["3-0"])
      for id in ["", "9", "a-b", "1-2-3", "-1-0", "1-", "1234567890123456789-0"] {
        let ada = ("Take5-User", "ada")
        let refused = try await api.get("/v1/events", headers: [ada, ("Last-Event-ID", id)])
        #expect(refused.status == 400, "\(id)")
        // Also next to a valid header field.
        let parameter = try await api.get("/v1/events?last_event_id=\(id)", headers: [ada, ("Last-Event-ID", "1-0")])
        #expect(parameter.status == 400, "\(id)")
      }
    }
  }

  @Test("a user has a limited number of streams, and a closed one counts no more")
  func limit() async throws {
    var setting = RunningAPI.Setting()
    setting.streamsPerUser = 2
    try await RunningAPI.with(setting) { api in
      let port = api.port
      try await onThread("client") {
        let ada = [("Take5-User", "ada")]
        let first = try EventReader.open(port: port, "/v1/events", ada)
        do {
          let second = try EventReader.open(port: port, "/v1/events", ada)
          let refusal = #expect(throws: EventReader.Refusal.self) {
            _ = try EventReader.open(port: port, "/v1/events", ada)
          }
          #expect(refusal?.head.hasPrefix("HTTP/1.1 429 ") == true)
          // Another user has an own number.
          _ = try EventReader.open(port: port, "/v1/events", [("Take5-User", "bob")])
          _ = consume second
        }
        // The server notices a closed connection soon, and then there is room.
        let deadline = Deadline("room for a stream")
        while (try? EventReader.open(port: port, "/v1/events", ada)) == nil { try deadline.check() }
        _ = consume first
      }
    }
  }
}

/// Failures that concern one user.
@Suite("Events that cannot be read", .tags(.database, .network), .timeLimit(.minutes(60)))
struct UnreadableEventTests {
  @Test("an error of the events of a user is logged with the user, and other users get theirs")
  func failure() async throws {
    let lines = Locked<[String]>([])
    var setting = RunningAPI.Setting()
    setting.log = { line in lines.withLock { $0.append(line) } }
    try await RunningAPI.with(setting) { api in
      try await api.pool.run { session in
        try session.executeScript(
          """
          ALTER TABLE user_event RENAME TO stored_event;
          CREATE FUNCTION kind_of(text, text) RETURNS text LANGUAGE plpgsql AS $$
          BEGIN IF $1 <> 'ada' THEN RAISE 'unreadable'; END IF; RETURN $2; END $$;
          CREATE VIEW user_event AS
          SELECT user_id, number, kind_of(user_id, kind) AS kind, actor, post, subject, data, created_at
          FROM stored_event;
          """, name: "test")
      }
      let others = (0..<8).map { "bob-\($0)" }
      let (port, gate) = (api.port, Channel<Int>(capacity: 1))
      try await withThrowingTaskGroup(of: Void.self) { group in
        for other in others {
          group.addTask {
            try await onThread("client") {
              let reader = try EventReader.open(port: port, "/v1/events", [("Take5-User", other)])
              _ = gate.take()
              _ = consume reader
            }
          }
        }
        async let received = api.events(2, of: "ada")
        try await until { api.changes.streams.count >= 9 }
        // All at once, so that one round looks at all of these users.
        try await api.pool.transaction { session in
          try session.executeScript(
            """
            INSERT INTO stored_event (user_id, number, kind)
            SELECT * FROM unnest('{ada,\(others.joined(separator: ","))}'::text[]) AS receiver, (SELECT 1, 'comment') AS event;
            INSERT INTO user_event_count SELECT user_id, 1 FROM stored_event;
            """, name: "test")
        }
        api.changes.events.readAll()
        #expect(try await received.map(\.name) == ["start", "comment"])
        try await until { others.allSatisfy { other in lines.withLock { $0.contains { $0.contains(other) } } } }
        gate.close()
        try await group.waitForAll()
      }
    }
  }
}

extension RunningAPI {
  func execute(_ statement: Statement) async throws {
    try await pool.run { session in _ = try session.execute(statement) }
  }
}
