import HTTPServer
import Model
import Postgres
import StoreTesting
import Testing

@testable import Kit
@testable import Rooms
@testable import Store

@Suite("The columns that a change of a post covers", .tags(.database), .timeLimit(.minutes(60)))
struct ChangedColumnTests {
  /// A change of each column that a change writes.
  private static let changes = [
    PostChange(title: .set("Dusk")), PostChange(caption: .set("Calm")), PostChange(alternativeText: .set("A lake")),
    PostChange(place: .set(PlaceChange(id: "lake", name: .keep, coordinate: .keep))),
    PostChange(place: .set(PlaceChange(id: "lake", name: .set("Lake"), coordinate: .keep))),
    PostChange(
      place: .set(
        PlaceChange(id: "lake", name: .keep, coordinate: .set(Coordinate(latitude: 1, longitude: 2))))),
    PostChange(location: .set(Coordinate(latitude: 3, longitude: 4))),
    PostChange(fields: FieldChange(["genre": .text("techno")])), PostChange(minAge: .set(18)),
    PostChange(foreground: .back), PostChange(visibility: .friends),
  ]

  @Test("a change of each column that clients change moves the time and the version of the post")
  func changes() async throws {
    try await StoreFixture.with { fixture in
      let id = try await fixture.submit()
      try await fixture.publish(fixture.claim())
      var moved: Set<String> = []
      for change in Self.changes {
        let (before, former) = (try await fixture.post(id), try await fixture.row(of: "post"))
        let result = try await fixture.pool.transaction { try Posts.change(id, for: .unrestricted, change, $0) }
        #expect(result == .changed)
        let (after, row) = (try await fixture.post(id), try await fixture.row(of: "post"))
        #expect(after.updatedAt > before.updatedAt, "\(change)")
        #expect(try after.entityTag().description != before.entityTag().description, "\(change)")
        moved.formUnion(row.filter { former[$0.key] != $0.value }.keys)
      }
      #expect(Set(PostColumn.changeable.map(\.name)).subtracting(moved) == [])
    }
  }

  @Test("a column that is added moves the time of a post by itself; counters, and what is not of the content, do not")
  func columns() async throws {
    try await StoreFixture.with { fixture in
      try await fixture.submit()
      try await fixture.publish(fixture.claim())
      try await fixture.pool.run { _ = try $0.execute("ALTER TABLE post ADD COLUMN mood text") }
      for (change, moves) in [
        ("like_count = 1, comment_count = 2, reaction_count = 3", false), ("like_count = 2, mood = 'calm'", true),
        ("like_count = 3, mood = 'calm', title = title", false), ("mood = NULL", true),
        ("job = gen_random_uuid(), source_set_id = NULL, is_moderated = true", false),
        ("latitude = 1, longitude = 2", true), ("moderation = 'hold', status = status", true),
      ] {
        let before = try await fixture.row(of: "post")["updated_at"]
        try await fixture.pool.run { _ = try $0.execute("UPDATE post SET \(change)") }
        let after = try await fixture.row(of: "post")["updated_at"]
        #expect((after != before) == moves, "\(change)")
      }
    }
  }
}

extension StoreFixture {
  /// The values of the columns of a table with one row that are not NULL, in text form.
  func row(of table: String) async throws -> [String: String] {
    try await pool.run { session in
      let rows = try session.execute(
        "SELECT key, value FROM \(table) AS found, jsonb_each_text(to_jsonb(found)) WHERE value IS NOT NULL")
      return Dictionary(
        uniqueKeysWithValues: try rows.map {
          (try $0.get("key", as: String.self), try $0.get("value", as: String.self))
        })
    }
  }
}
