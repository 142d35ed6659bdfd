import Model
import Postgres
import StoreTesting
import Testing
import WaitTesting

@testable import Kit
@testable import Rooms
@testable import Store

@Suite("Rows that remain of deleted records", .tags(.database), .timeLimit(.minutes(60)))
struct RemainingRowTests {
  /// A table with rows that remain for some time.
  enum Remaining: String, CaseIterable, Sendable {
    case post
    case webhook
    /// Own places of a user.
    case place
    /// Events of others that a user caused.
    case userEvent = "user_event"
    /// What a user did in a collection of another one.
    case activity = "collection_activity"

    /// The columns that stay: keys, counters, and what is not of the author.
    var staying: Set<String> {
      switch self {
      case .post: ["id", "comment_count", "reaction_count"]
      case .webhook:
        [
          "id", "public_id", "kinds", "disabled_at", "disabled_cause", "failing_since", "failures", "next_at",
          "created_at", "deleted_at",
        ]
      case .place:
        [
          "id", "number", "created_at", "revision", "post_count", "author_count", "favourite_count",
          "collection_count", "comment_count", "save_count", "rating_count", "rating_halves", "is_known", "is_hidden",
          "is_own",
        ]
      case .userEvent: ["user_id", "number", "created_at", "position", "is_late"]
      case .activity: ["id", "collection_id", "kind", "keys", "created_at"]
      }
    }

    /// The values, in SQL, of columns that do not have any value of their type.
    var values: [String: String] {
      switch self {
      case .post:
        [
          "public_id": "public_id", "kind": "'marker'", "status": "'ready'", "visibility": "'public'",
          "foreground": "'back'", "reasons": #"'[{"code":"corrupt_video","detail":"recognisable"}]'"#, "job": "job",
          "source_set_id": "source_set_id", "asset_set_id": "asset_set_id", "window_state": "'late'",
          "moderation": "NULL", "look": "NULL",
        ]
      case .webhook: [:]
      case .place: ["author": "'ada'", "rating": "4.5", "price_level": "3"]
      case .userEvent: ["kind": "'like'", "actor": "'ada'"]
      case .activity: ["user_id": "'ada'", "member": "'ada'"]
      }
    }

    /// Inserts the row of the table, and what it needs; a post is submitted.
    var rows: String {
      switch self {
      case .post:
        """
        INSERT INTO relation (kind, user_id, target)
        SELECT 'like', 'fan ' || n, public_id::text FROM post, generate_series(1, \(ForgettingStep.rows + 1)) AS n
        """
      case .webhook:
        """
        INSERT INTO webhook (public_id, url, kinds, secret)
        VALUES (gen_random_uuid(), 'https://example.org', ARRAY['like'], decode(repeat('01', 32), 'hex'))
        """
      case .place: "INSERT INTO place (id, author, is_own) VALUES ('own', 'ada', true)"
      case .userEvent: "INSERT INTO user_event (user_id, number, kind, actor) VALUES ('bob', 1, 'like', 'ada')"
      case .activity:
        """
        INSERT INTO collection (public_id, kind, author, name, fields) VALUES (gen_random_uuid(), 'itinerary', 'bob', 'Trip', '{}');
        INSERT INTO collection_activity (collection_id, kind, user_id) SELECT id, 'edited', 'ada' FROM collection
        """
      }
    }
  }

  /// A value of a type that nothing else has, in SQL.
  private static func value(of type: String, for column: String) -> String? {
    let text = "recognisable \(column)"
    return switch type {
    case "text": "'\(text)'"
    case "jsonb": #"'{"recognisable": "\#(text)"}'"#
    case "ARRAY": "ARRAY['\(text)']"
    case "bytea": "convert_to(rpad('\(text)', 32), 'UTF8')"
    case "double precision": "47.11"
    case "smallint", "integer", "bigint": "97"
    case "boolean": "true"
    case "timestamp with time zone": "'2001-02-03 04:05:06Z'"
    case "uuid": "gen_random_uuid()"
    default: nil
    }
  }

  /// Gives each column of a table a value that is recognised, also one that a later migration adds.
  private static func fill(_ table: Remaining, _ session: Session) throws {
    let columns = try session.execute(
      """
      SELECT column_name::text AS name, data_type::text AS type FROM information_schema.columns
      WHERE table_schema = current_schema() AND table_name = $1 AND is_generated = 'NEVER' AND is_identity = 'NO'
      """, .text(table.rawValue)
    ).map { (name: try $0.get("name", as: String.self), type: try $0.get("type", as: String.self)) }
    let assignments = try columns.filter { !table.staying.contains($0.name) }.map { column in
      let value = table.values[column.name] ?? value(of: column.type, for: column.name)
      return "\(column.name) = \(try #require(value, "a value of \(column.type)"))"
    }
    #expect(assignments.count > 1)
    try session.executeScript("UPDATE \(table.rawValue) SET \(assignments.joined(separator: ", "))", name: "fill")
  }

  @Test("nothing that a record said is in the row that remains of it", arguments: Remaining.allCases)
  func nothing(in table: Remaining) async throws {
    try await StoreFixture.with { fixture in
      let pool = fixture.pool
      if table == .post {
        try await fixture.submit()
        try await fixture.publish(fixture.claim())
      }
      try await pool.transaction { session in
        try session.executeScript(table.rows, name: "rows")
        try Self.fill(table, session)
      }
      let before = try await fixture.row(of: table.rawValue)
      switch table {
      case .post, .webhook:
        let id = try #require(PublicID(before["public_id"] ?? ""))
        let isDeleted = try await pool.transaction { session in
          try table == .post ? Posts.delete(id, for: .unrestricted, session) : Webhooks.delete(id, session)
        }
        #expect(isDeleted)
      case .place, .userEvent, .activity: try await Self.forget("ada", fixture)
      }
      let after = try await fixture.row(of: table.rawValue)
      #expect(after["id"] == before["id"])
      let left = before.filter { after[$0.key] == $0.value }.map(\.key)
      #expect(Set(left).subtracting(table.staying) == [])
      // The place that a post names belongs to the app.
      #expect(try await fixture.tables(mentioning: "recognisable").filter { $0 != "place" || table == .place } == [])
    }
  }

  private static func forget(_ user: String, _ fixture: StoreFixture) async throws {
    let pool = fixture.pool
    let job = try await pool.transaction { try Forgetting.start(user, request: nil, $0, check: { _ in }).job }
    let deadline = Deadline("the last batch of a deletion")
    while try await pool.transaction({ try Forgetting.forgetBatch(ofJob: job, in: .all, $0) }) { try deadline.check() }
  }
}
