import FoundationEssentials
import Model
import Postgres
import Queue

extension PostDraft {
  /// The values for the statement that inserts a post.
  func parameters(id: PublicID, sourceSet: Int64?, job: PublicID?) -> [Parameter] {
    let captured = capturedAt.map { Int64(($0.timeIntervalSince1970 * 1e6).rounded()) }
    let status: PostStatus = job == nil ? .ready : .processing
    return [
      .text(id.description), .text(kind.rawValue), .text(author), .text(title), .text(caption),
      .text(visibility.rawValue), .text(place?.id), .text(place?.name), .double(place?.coordinate?.latitude),
      .double(place?.coordinate?.longitude), .double(location?.latitude), .double(location?.longitude),
      .timestamp(microseconds: captured), .text(foreground.rawValue), .text(status.rawValue), .integer(sourceSet),
      .text(job?.description),
    ]
  }

  /// Reads a row of `post`.
  init(_ row: Row) throws(PostgresError) {
    var place: Place?
    if let id = try row.get("place_id", as: String?.self) {
      place = Place(
        id: id, name: try row.get("place_name"), coordinate: try row.coordinate("place_latitude", "place_longitude"))
    }
    self.init(
      kind: try row.value("kind"), author: try row.get("author"), title: try row.get("title"),
      caption: try row.get("caption"), visibility: try row.value("visibility"), place: place,
      location: try row.coordinate("latitude", "longitude"),
      capturedAt: try row.get("captured_at", as: Int64?.self).map(Date.init(microseconds:)),
      foreground: try row.value("foreground"))
  }
}

extension Row {
  /// A column that holds one of the words of an enumeration.
  func value<Value: RawRepresentable<String>>(_ column: String) throws(PostgresError) -> Value {
    let text = try get(column, as: String.self)
    guard let value = Value(rawValue: text) else {
      throw PostgresError(.decoding, "column \(column) holds \(text), which is no \(Value.self)")
    }
    return value
  }

  fileprivate func coordinate(_ latitude: String, _ longitude: String) throws(PostgresError) -> Coordinate? {
    guard let latitude = try get(latitude, as: Double?.self), let longitude = try get(longitude, as: Double?.self)
    else { return nil }
    return Coordinate(latitude: latitude, longitude: longitude)
  }
}
