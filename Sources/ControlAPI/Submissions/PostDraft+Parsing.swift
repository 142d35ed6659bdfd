import FoundationEssentials
package import HTTPServer
package import Model

extension PostDraft {
  /// The longest texts, in characters.
  enum Longest {
    static let name = 200
    static let caption = 5000
  }

  /// Reads the JSON part `post` of a submission; throws a problem that names every wrong field.
  package init(json: [UInt8]) throws(Problem) {
    self = try Self.read(JSONBody.fields(of: json, part: "post"), path: "post", requiresKind: false)
  }

  /// Reads a submission that is JSON as a whole; throws a problem that names every wrong field.
  init(body fields: [String: JSONValue]) throws(Problem) {
    self = try Self.read(fields, path: "", requiresKind: true)
  }

  /// Reads the fields of a form; throws a problem that names every wrong one.
  init(form fields: [PostField: [UInt8]]) throws(Problem) {
    var values: [String: JSONValue] = [:]
    for (field, bytes) in fields {
      guard let text = String(validating: bytes, as: UTF8.self) else {
        throw JSONBody.problem([FieldError(field.rawValue, "is not text in UTF-8")])
      }
      values[field.rawValue] = field.value(text)
    }
    var reader = FieldReader(values, path: "")
    let draft = Self.read(&reader, requiresKind: true) { reader in
      let location = Self.coordinate(&reader, "latitude", "longitude", among: values)
      let center = Self.coordinate(&reader, "place_latitude", "place_longitude", among: values)
      let isPlace = values.keys.contains { $0.hasPrefix("place") }
      let id = reader.text("place", limit: Longest.name, isRequired: isPlace, mayBeEmpty: false)
      let name = reader.text("place_name", limit: Longest.name)
      return (id.map { Place(id: $0, name: name, coordinate: center) }, location)
    }
    let errors = reader.finish()
    guard errors.isEmpty, let draft else { throw JSONBody.problem(errors) }
    self = draft
  }

  private static func read(
    _ fields: [String: JSONValue], path: String, requiresKind: Bool
  ) throws(Problem) -> PostDraft {
    var reader = FieldReader(fields, path: path)
    let draft = read(&reader, requiresKind: requiresKind) { reader in
      (reader.object("place", Self.place), reader.object("location", Self.coordinate))
    }
    let errors = reader.finish()
    guard errors.isEmpty, let draft else { throw JSONBody.problem(errors) }
    return draft
  }

  private static func read(
    _ reader: inout FieldReader, requiresKind: Bool, spot: (inout FieldReader) -> (Place?, Coordinate?)
  ) -> PostDraft? {
    let kind = reader.choice("kind", of: PostKind.self, isRequired: requiresKind)
    let author = reader.text("author", limit: Longest.name, isRequired: true, mayBeEmpty: false)
    let title = reader.text("title", limit: Longest.name)
    let caption = reader.text("caption", limit: Longest.caption)
    let visibility = reader.choice("visibility", of: Visibility.self)
    let foreground = reader.choice("foreground", of: Camera.self)
    let (place, location) = spot(&reader)
    let capturedAt = reader.time("captured_at")
    guard let author else { return nil }
    return PostDraft(
      kind: kind ?? .take5, author: author, title: title, caption: caption, visibility: visibility ?? .public,
      place: place, location: location, capturedAt: capturedAt, foreground: foreground ?? .front)
  }

  static func place(_ reader: inout FieldReader) -> Place? {
    let id = reader.text("id", limit: Longest.name, isRequired: true, mayBeEmpty: false)
    let name = reader.text("name", limit: Longest.name)
    let coordinate = reader.object("coordinate", coordinate)
    return id.map { Place(id: $0, name: name, coordinate: coordinate) }
  }

  private static func coordinate(_ reader: inout FieldReader) -> Coordinate? {
    coordinate(&reader, "latitude", "longitude")
  }

  /// Of two fields that need each other; nil where neither is there.
  private static func coordinate(
    _ reader: inout FieldReader, _ latitude: String, _ longitude: String, among fields: [String: JSONValue]
  ) -> Coordinate? {
    guard fields[latitude] != nil || fields[longitude] != nil else { return nil }
    return coordinate(&reader, latitude, longitude)
  }

  private static func coordinate(_ reader: inout FieldReader, _ north: String, _ east: String) -> Coordinate? {
    let latitude = reader.number(north, in: -90...90)
    let longitude = reader.number(east, in: -180...180)
    guard let latitude, let longitude else { return nil }
    return Coordinate(latitude: latitude, longitude: longitude)
  }
}
