import FoundationEssentials
import Model
import Postgres
import Queue

extension PostDraft {
  /// Reads a row of the statement `post`.
  init(_ row: Row) throws(PostgresError) {
    var place: Place?
    if let id = try row.get("place_id", as: String?.self) {
      place = Place(
        id: id, name: try row.get("place_name"),
        coordinate: try Self.coordinate(row, "place_latitude", "place_longitude"))
    }
    self.init(
      kind: try Self.word(row, "kind"), author: try row.get("author"), title: try row.get("title"),
      caption: try row.get("caption"), visibility: try Self.word(row, "visibility"), place: place,
      location: try Self.coordinate(row, "latitude", "longitude"),
      capturedAt: try row.get("captured_at", as: Int64?.self).map(Date.init(microseconds:)),
      foreground: try Self.word(row, "foreground"))
  }

  private static func coordinate(
    _ row: Row, _ latitude: String, _ longitude: String
  ) throws(PostgresError) -> Coordinate? {
    guard let latitude = try row.get(latitude, as: Double?.self) else { return nil }
    guard let longitude = try row.get(longitude, as: Double?.self) else { return nil }
    return Coordinate(latitude: latitude, longitude: longitude)
  }

  /// Reads a column that holds one of a few words.
  static func word<Word: RawRepresentable<String>>(_ row: Row, _ column: String) throws(PostgresError) -> Word {
    let text = try row.get(column, as: String.self)
    guard let word = Word(rawValue: text) else {
      throw PostgresError(.decoding, "column \(column) holds '\(text)', which is no \(Word.self)")
    }
    return word
  }
}
