import Integrity
import Model
import Postgres
import Store
import Testing

@Suite("Verification of users and relations", .tags(.database), .timeLimit(.minutes(15)))
struct PeopleTests {
  @Test("wrong counters, relations with one side and relations to nothing are found and repaired")
  func faults() async throws {
    try await IntegrityFixture.with { fixture in
      let post = try await fixture.post("a")
      try await fixture.pool.transaction { [store = fixture.store] session in
        for (user, kind, target) in [
          ("ada", RelationKind.friend, "bob"), ("bob", .friend, "ada"), ("ada", .block, "eve"),
        ] {
          _ = try store.relate(user, kind, to: target, for: .unrestricted, session)
        }
        for kind in RelationKind.all where kind.target == .post {
          _ = try store.relate("bob", kind, to: "\(post)", for: .unrestricted, session)
        }
      }
      try await fixture.sql("UPDATE app_user SET name = 'Byron' WHERE id = 'bob'")
      #expect(try await fixture.codes() == [])
      // Triggers do not run in a session that replicates.
      let faults: [(sql: String, code: FindingCode, count: Int)] = [
        ("UPDATE post SET like_count = 5", .countWrong, 1),
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
}
