import FoundationEssentials
package import Model
package import Postgres
import Queue

/// A column of the table `post` that stores a part of a draft. `PostDraft.init(_:)` reads the columns.
package struct PostColumn: Sendable {
  let name: String
  /// Whether a change of a post writes the column.
  let isChangeable: Bool
  package let value: @Sendable (PostDraft) throws -> Parameter

  private init(_ name: String, isChangeable: Bool = false, _ value: @escaping @Sendable (PostDraft) throws -> Parameter)
  {
    self.name = name
    self.isChangeable = isChangeable
    self.value = value
  }

  static let all = [
    PostColumn("kind") { .text($0.kind.rawValue) },
    PostColumn("author") { .text($0.author) },
    PostColumn("title", isChangeable: true) { .text($0.title) },
    PostColumn("caption", isChangeable: true) { .text($0.caption) },
    PostColumn("alternative_text", isChangeable: true) { .text($0.alternativeText) },
    PostColumn("visibility", isChangeable: true) { .text($0.visibility.rawValue) },
    PostColumn("place_id", isChangeable: true) { .text($0.place?.id) },
    PostColumn("place_name", isChangeable: true) { .text($0.place?.name) },
    PostColumn("place_latitude", isChangeable: true) { .double($0.place?.coordinate?.latitude) },
    PostColumn("place_longitude", isChangeable: true) { .double($0.place?.coordinate?.longitude) },
    PostColumn("latitude", isChangeable: true) { .double($0.location?.latitude) },
    PostColumn("longitude", isChangeable: true) { .double($0.location?.longitude) },
    PostColumn("foreground", isChangeable: true) { .text($0.foreground.rawValue) },
    PostColumn("fields", isChangeable: true) { .text(try JSON.text($0.fields ?? [:])) },
    PostColumn("min_age", isChangeable: true) { .integer($0.minAge.map(Int64.init)) },
    PostColumn("captured_at") { draft in
      .timestamp(microseconds: draft.capturedAt.map(\.microseconds))
    },
  ]

  package static let changeable = all.filter(\.isChangeable)

  /// The values of all columns in what is left of a deleted post, which a draft has that says nothing.
  package static func cleared(author: String) throws -> [Parameter] {
    let draft = PostDraft(author: author, visibility: .private)
    return try all.map { try $0.value(draft) }
  }

  /// The fragments of statements: the names of all columns, their parameters from `$8` on, the assignments of the changeable columns,
  /// whose parameters begin at `$2`, and the assignments of all columns, whose parameters begin at `$3`.
  package static let fragments = [
    "draft_columns": all.map(\.name).joined(separator: ", "),
    "draft_values": all.indices.map { "$\($0 + 8)" }.joined(separator: ", "),
    "draft_changes": changeable.enumerated().map { "\($1.name) = $\($0 + 2)" }.joined(separator: ", "),
    "draft_clearing": all.enumerated().map { "\($1.name) = $\($0 + 3)" }.joined(separator: ", "),
  ]
}

extension PostDraft {
  /// Reads a row of the statements `post` and `posts`.
  package init(_ row: Row) throws(PostgresError) {
    var place: Place?
    if let id = try row.get("place_id", as: String?.self) {
      place = Place(
        id: id, name: try row.get("place_name"),
        coordinate: try Self.coordinate(row, "place_latitude", "place_longitude"))
    }
    self.init(
      kind: try row.enumValue("kind"), author: try row.get("author"), title: try row.get("title"),
      caption: try row.get("caption"), alternativeText: try row.get("alternative_text"),
      visibility: try row.enumValue("visibility"), place: place,
      location: try Self.coordinate(row, "latitude", "longitude"),
      capturedAt: try row.get("captured_at", as: Int64?.self).map(Date.init(microseconds:)),
      foreground: try row.enumValue("foreground"), fields: try row.fields(),
      minAge: try row.get("min_age"))
  }

  private static func coordinate(
    _ row: Row, _ latitude: String, _ longitude: String
  ) throws(PostgresError) -> Coordinate? {
    guard let latitude = try row.get(latitude, as: Double?.self) else { return nil }
    guard let longitude = try row.get(longitude, as: Double?.self) else { return nil }
    return Coordinate(latitude: latitude, longitude: longitude)
  }
}
