import Integrity
import Model
import Postgres
import Rooms
import Store
import Testing

@Suite("Verification of users and relations", .tags(.database), .timeLimit(.minutes(60)))
struct PeopleTests {
  @Test("wrong counters, relations with one side and relations to nothing are found and repaired")
  func faults() async throws {
    try await IntegrityFixture.with { fixture in
      let post = try await fixture.post("a")
      try await fixture.pool.transaction { session in
        for (user, kind, target) in [
          ("ada", RelationKind.friend, "bob"), ("bob", .friend, "ada"), ("ada", .block, "eve"),
        ] {
          _ = try Relations.relate(user, kind, to: target, for: .unrestricted, session)
        }
        for kind in RelationKind.all where kind.target == .post {
          _ = try Relations.relate("bob", kind, to: "\(post)", for: .unrestricted, session)
        }
      }
      try await fixture.sql("UPDATE app_user SET name = 'Byron' WHERE id = 'bob'")
      #expect(try await fixture.codes() == [])
      // Triggers do not run in a session that replicates.
      let faults: [(sql: String, code: FindingCode, count: Int)] = [
        ("UPDATE post SET like_count = 5", .countWrong, 1), ("UPDATE post SET comment_count = 5", .countWrong, 1),
        ("UPDATE post SET reaction_count = 5", .countWrong, 1),
        ("UPDATE app_user SET friends = friends + 1", .countWrong, 2),
        ("UPDATE app_user SET private_posts = 7 WHERE id = 'bob'", .countWrong, 1),
        ("DELETE FROM relation WHERE kind = 'friend' AND user_id = 'ada'", .relationOneSided, 1),
        ("DELETE FROM relation WHERE kind = 'blocked'", .relationOneSided, 1),
        ("DELETE FROM relation WHERE kind = 'block'", .relationOneSided, 1),
        ("INSERT INTO relation (kind, user_id, target) VALUES ('bookmark', 'bob', 'nothing')", .relationDangling, 1),
        (
          "INSERT INTO relation (kind, user_id, target) VALUES ('like', 'bob', '00000000-0000-7000-8000-000000000000')",
          .relationDangling, 1
        ),
        ("DELETE FROM spelling WHERE word = 'byron'", .spellingWrong, 1),
        ("INSERT INTO spelling (word) VALUES ('lovelace')", .spellingWrong, 1),
        ("UPDATE app_user SET name = 'Eve' WHERE id = 'bob'", .spellingWrong, 2),
      ]
      for fault in faults {
        try await fixture.sql("SET session_replication_role = replica; \(fault.sql); RESET session_replication_role")
        let findings = try await fixture.verify().findings.filter { $0.code == fault.code }
        #expect(findings.count >= fault.count && findings.allSatisfy { $0.severity == .fault }, "\(fault.sql)")
        _ = try await fixture.repair { _ in [:] }
        #expect(try await fixture.codes() == [], "\(fault.sql)")
      }
      #expect(try await fixture.verify().checked.users >= 2)
    }
  }

  @Test("wrong counters of places and wrong sums of the map are found and repaired")
  func places() async throws {
    try await IntegrityFixture.with { fixture in
      try await fixture.sql(
        """
        INSERT INTO post (public_id, kind, status, author, title, visibility, foreground, place_id, place_latitude, place_longitude)
        SELECT gen_random_uuid(), 'marker', 'ready', author, 'Here', visibility, 'front', 'lake', 47.5, 9.5
        FROM (VALUES ('ada', 'public'), ('bob', 'public'), ('ada', 'friends')) AS given (author, visibility)
        """)
      try await fixture.pool.transaction { session in
        _ = try Relations.relate(
          "ada", #require(RelationKind.all.first { $0.target == .place }), to: "lake", for: .unrestricted, session)
        let kind = try JSON.decode(
          CollectionDefinition.self,
          from: Array(#"{"name":"trip","version":1,"fields":{},"items":{"of":"place","max":5,"fields":{}}}"#.utf8))
        let items = [CollectionItem(subject: .place("lake"), fields: [:])]
        let trip = try Collections.create(
          kind, CollectionContent(name: "Trip", fields: [:], items: items), by: "ada", for: .unrestricted, session)
        _ = try Collections.share(trip, with: "bob", as: .viewer, for: .unrestricted, link: nil, session)
        _ = try Comments.insert(on: .collection(trip), for: .unrestricted, author: "bob", text: "Nice", session)
        _ = try Comments.insert(on: .place("lake"), for: .unrestricted, author: "bob", text: "Nice", session)
        _ = try Places.rate("lake", halves: 9, by: "ada", for: .unrestricted, session) { _ in }
      }
      #expect(try await fixture.codes() == [])
      let before = try await fixture.facts()
      let faults = [
        "UPDATE place SET post_count = 5", "UPDATE place SET author_count = 5", "UPDATE place SET favourite_count = 5",
        "UPDATE place SET comment_count = 5", "UPDATE place SET collection_count = 5",
        "UPDATE place SET rating_count = 5", "UPDATE place_rating SET halves = 3",
        "UPDATE collection SET item_count = 5", "UPDATE collection SET member_count = 5",
        "UPDATE collection SET comment_count = 5", "UPDATE place_user SET posts = 5", "DELETE FROM place_user",
        "INSERT INTO place_user VALUES ('lake', 'eve', 1)", "DELETE FROM place", "UPDATE place_friend SET posts = 5",
        "DELETE FROM place_friend", "INSERT INTO place_friend (place_id, user_id, posts) VALUES ('lake', 'eve', 1)",
        "UPDATE map_activity SET posts = 5 WHERE level = 7 AND period = 'day'",
        "DELETE FROM map_activity WHERE level = 13",
        "UPDATE map_activity SET longitudes = 1 WHERE level = 3",
        "INSERT INTO map_activity VALUES ('month', 0, 1, '2020-02-01 00:00Z', 1, 1, 1)",
      ]
      for fault in faults {
        try await fixture.sql("SET session_replication_role = replica; \(fault); RESET session_replication_role")
        let findings = try await fixture.verify().findings
        #expect(
          !findings.isEmpty && findings.allSatisfy { $0.code == .countWrong && $0.severity == .fault }, "\(fault)")
        _ = try await fixture.repair { _ in [:] }
        #expect(try await fixture.codes() == [], "\(fault)")
        #expect(try await fixture.facts() == before, "\(fault)")
      }
    }
  }
}

extension IntegrityFixture {
  /// The counters of places and the sums of the map.
  fileprivate func facts() async throws -> [String] {
    try await pool.run { session in
      try session.execute(
        """
        SELECT concat_ws(' ', id, latitude, longitude, post_count, author_count, favourite_count, collection_count, rating_count,
          (SELECT string_agg(concat_ws(' ', item_count, member_count, comment_count), ',') FROM collection), (SELECT sum(posts) FROM place_user),
          (SELECT string_agg(concat_ws(' ', user_id, posts, latitude), ',') FROM place_friend),
          (SELECT string_agg(concat_ws(' ', period, level, cell, posts, longitudes), ',' ORDER BY period, level, cell) FROM map_activity))
        FROM place
        """
      ).map { try $0.get(0, as: String.self) }
    }
  }
}
