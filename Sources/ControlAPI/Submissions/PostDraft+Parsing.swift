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
    let fields = try JSONBody.fields(of: json, part: "post")
    var reader = FieldReader(fields, path: "post")
    let draft = Self.read(&reader)
    let errors = reader.finish()
    guard errors.isEmpty, let draft else { throw JSONBody.problem(errors) }
    self = draft
  }

  private static func read(_ reader: inout FieldReader) -> PostDraft? {
    let kind = reader.choice("kind", of: PostKind.self)
    let author = reader.text("author", limit: Longest.name, isRequired: true, mayBeEmpty: false)
    let title = reader.text("title", limit: Longest.name)
    let caption = reader.text("caption", limit: Longest.caption)
    let visibility = reader.choice("visibility", of: Visibility.self)
    let foreground = reader.choice("foreground", of: Camera.self)
    let place = reader.object("place", Self.place)
    let location = reader.object("location", Self.coordinate)
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
    let latitude = reader.number("latitude", in: -90...90)
    let longitude = reader.number("longitude", in: -180...180)
    guard let latitude, let longitude else { return nil }
    return Coordinate(latitude: latitude, longitude: longitude)
  }
}
