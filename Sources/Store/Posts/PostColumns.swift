import FoundationEssentials
import Model
import Postgres
import Queue

/// A column of the table `post` that stores a part of a draft. `PostDraft.init(_:)` reads the columns.
struct PostColumn: Sendable {
  let name: String
  /// Whether a change of a post writes the column.
  let isChangeable: Bool
  let value: @Sendable (PostDraft) -> Parameter

  private init(_ name: String, isChangeable: Bool = false, _ value: @escaping @Sendable (PostDraft) -> Parameter) {
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
    PostColumn("captured_at") { draft in
      .timestamp(microseconds: draft.capturedAt.map(\.microseconds))
    },
  ]

  static let changeable = all.filter(\.isChangeable)

  /// Returns the text of Store.sql with the columns in it.
  ///
  /// The names of all columns replace `DRAFT_COLUMNS`, their parameters from `$8` on `DRAFT_VALUES`, and the assignments
  /// of the changeable columns, whose parameters are those from `$2` on, `DRAFT_CHANGES`.
  static func complete(_ sql: [UInt8]) -> [UInt8] {
    let values = all.indices.map { "$\($0 + 8)" }
    let changes = changeable.enumerated().map { "\($1.name) = $\($0 + 2)" }
    return Array(
      String(decoding: sql, as: UTF8.self)
        .replacing("DRAFT_COLUMNS", with: all.map(\.name).joined(separator: ", "))
        .replacing("DRAFT_VALUES", with: values.joined(separator: ", "))
        .replacing("DRAFT_CHANGES", with: changes.joined(separator: ", ")).utf8)
  }
}

extension PostDraft {
  /// Reads a row of the statements `post` and `posts`.
  init(_ row: Row) throws(PostgresError) {
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
      foreground: try row.enumValue("foreground"))
  }

  private static func coordinate(
    _ row: Row, _ latitude: String, _ longitude: String
  ) throws(PostgresError) -> Coordinate? {
    guard let latitude = try row.get(latitude, as: Double?.self) else { return nil }
    guard let longitude = try row.get(longitude, as: Double?.self) else { return nil }
    return Coordinate(latitude: latitude, longitude: longitude)
  }
}
