import FoundationEssentials
package import HTTPServer
internal import Kit
package import Model
internal import Platform

/// The names of the parts with the fields of a post. Each is plain text, so that generated clients and HTML forms can send
/// them.
enum PostField: String, CaseIterable, Sendable {
  case kind
  case author
  case title
  case caption
  case alternativeText = "alternative_text"
  case visibility
  case foreground
  case capturedAt = "captured_at"
  /// JSON, as in a response; `latitude` and `longitude` are the same.
  case location
  case latitude
  case longitude
  case place
  case placeName = "place_name"
  case placeLatitude = "place_latitude"
  case placeLongitude = "place_longitude"
  case minAge = "min_age"
  /// JSON.
  case fields

  /// The required fields; the author is that of a request that acts as no user.
  static let required: [PostField] = [.kind, .author]

  /// Returns the JSON value of a field's text. For a number field, text that is not a number is returned as a string, which
  /// is then reported as invalid.
  func value(_ text: String) -> JSONValue {
    switch self {
    case .latitude, .longitude, .placeLatitude, .placeLongitude, .minAge:
      // Decimal only: Double also accepts hexadecimal digits, `nan` and `inf`.
      guard text.utf8.allSatisfy("0123456789+-.eE".utf8.contains), let number = Double(text) else { fallthrough }
      return .number(number)
    default: return .string(text)
    }
  }
}

extension PostDraft {
  /// Reads the part `post` of a form, a JSON object; throws a problem that names every invalid field.
  ///
  /// - Parameters:
  ///   - user: the author of a post that names none; nil: the post must name one.
  ///   - defined: the fields that a definition names.
  package init(
    json: [UInt8], user: String?, defined: [String: FieldDefinition] = [:]
  ) throws(Problem) {
    self = try Self.read(
      JSONBody.fields(of: json, part: "post"), defined, path: "post", requiresKind: false, user: user)
  }

  /// Reads a body that is a JSON object; throws a problem that names every invalid field.
  init(
    body fields: [String: JSONValue], user: String?, defined: [String: FieldDefinition] = [:]
  ) throws(Problem) {
    self = try Self.read(fields, defined, path: "", requiresKind: true, user: user)
  }

  /// Reads the fields of a form; throws a problem that names every invalid field.
  init(
    form fields: [PostField: [UInt8]], user: String?, defined: [String: FieldDefinition] = [:]
  ) throws(Problem) {
    var values: [String: JSONValue] = [:]
    for (field, bytes) in fields {
      if field == .fields || field == .location {
        values[field.rawValue] = .object(try JSONBody.fields(of: bytes, part: field.rawValue))
        continue
      }
      guard let text = ExternalText.decode(bytes) else {
        throw ProblemKind.invalid([FieldError(field.rawValue, "is not \(ExternalText.expected)")])
      }
      values[field.rawValue] = field.value(text)
    }
    var reader = FieldReader(values, path: "")
    let draft = Self.read(&reader, among: values, defined, requiresKind: true, user: user) { reader in
      let location =
        reader.object("location", Self.coordinate)
        ?? Self.coordinate(&reader, "latitude", "longitude", among: values)
      let center = Self.coordinate(&reader, "place_latitude", "place_longitude", among: values)
      let hasPlace = values.keys.contains { $0.hasPrefix("place") }
      let id = reader.text("place", limit: MaxLength.name, isRequired: hasPlace, allowsEmpty: false)
      let name = reader.displayName("place_name")
      return (id.map { Place(id: $0, name: name, coordinate: center) }, location)
    }
    try reader.check()
    self = draft
  }

  private static func read(
    _ fields: [String: JSONValue], _ defined: [String: FieldDefinition], path: String, requiresKind: Bool, user: String?
  ) throws(Problem) -> PostDraft {
    var reader = FieldReader(fields, path: path)
    let draft = read(&reader, among: fields, defined, requiresKind: requiresKind, user: user) { reader in
      (reader.object("place", Self.place), reader.object("location", Self.coordinate))
    }
    try reader.check()
    return draft
  }

  private static func read(
    _ reader: inout FieldReader, among values: [String: JSONValue], _ defined: [String: FieldDefinition],
    requiresKind: Bool, user: String?, readLocation: (inout FieldReader) -> (Place?, Coordinate?)
  ) -> PostDraft {
    let kind = reader.choice("kind", of: PostKind.self, isRequired: requiresKind)
    let author = reader.author(actingAs: user)
    let title = reader.displayName("title")
    let caption = reader.prose("caption", limit: MaxLength.text)
    let alternativeText = reader.text("alternative_text", limit: MaxLength.alternativeText)
    let visibility = reader.choice("visibility", of: Visibility.self)
    let foreground = reader.choice("foreground", of: Camera.self)
    let (place, location) = readLocation(&reader)
    let capturedAt = reader.time("captured_at")
    let fields = reader.fieldChange(by: defined, among: values, isWhole: true)
    let minAge = reader.integer("min_age", in: minAges)
    return PostDraft(
      kind: kind ?? .take5, author: author, title: title, caption: caption, alternativeText: alternativeText,
      visibility: visibility ?? .public, place: place, location: location, capturedAt: capturedAt,
      foreground: foreground ?? .front, fields: fields.applied(to: nil), minAge: minAge)
  }

  static func place(_ reader: inout FieldReader) -> Place? {
    let id = reader.text("id", limit: MaxLength.name, isRequired: true, allowsEmpty: false)
    let name = reader.displayName("name")
    let coordinate = reader.object("coordinate", coordinate)
    return id.map { Place(id: $0, name: name, coordinate: coordinate) }
  }

  static func coordinate(_ reader: inout FieldReader) -> Coordinate? {
    coordinate(&reader, "latitude", "longitude")
  }

  /// Reads a coordinate from two fields that are required together; returns nil if both are absent.
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

extension PostChange {
  /// Reads a merge patch (RFC 7396): absent fields stay as they are, null removes a value; throws a problem that names
  /// every invalid field.
  init(fields: [String: JSONValue], defined: [String: FieldDefinition] = [:]) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    func change<Value>(
      _ name: String, _ value: Value?, of object: [String: JSONValue]? = nil
    ) -> MemberChange<Value> {
      (object ?? fields)[name] == nil ? .keep : .set(value)
    }
    let title = reader.displayName("title")
    let caption = reader.prose("caption", limit: MaxLength.text)
    let alternativeText = reader.text("alternative_text", limit: MaxLength.alternativeText)
    let place = reader.object("place", PostDraft.place)
    let location = reader.object("location", PostDraft.coordinate)
    let visibility = reader.choice("visibility", of: Visibility.self)
    let foreground = reader.choice("foreground", of: Camera.self)
    let minAge = reader.integer("min_age", in: PostDraft.minAges)
    let ofDefinition = reader.fieldChange(by: defined, among: fields, isWhole: false)
    try reader.check()
    let named: [String: JSONValue] = if case .object(let members)? = fields["place"] { members } else { [:] }
    let placeChange = place.map { place in
      PlaceChange(
        id: place.id, name: change("name", place.name, of: named),
        coordinate: change("coordinate", place.coordinate, of: named))
    }
    self.init(
      title: change("title", title), caption: change("caption", caption),
      alternativeText: change("alternative_text", alternativeText), place: change("place", placeChange),
      location: change("location", location), visibility: visibility, foreground: foreground,
      fields: ofDefinition, minAge: change("min_age", minAge))
  }
}

/// The JSON of a draft in the response of a post. Every key is present; unknown values are null.
struct PostDraftResponse: NilEncodable {
  let draft: PostDraft

  private enum CodingKeys: CodingKey { case place, fields }

  func encode(to encoder: any Encoder) throws {
    try draft.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(draft.place.map(PlaceResponse.init), forKey: .place)
    try container.encode(draft.fields ?? [:], forKey: .fields)
  }
}
