/// The parts of a submission's form that say what the post is, by their names: each is plain text, so that a client that
/// was generated from the document, or a form on a page, needs nothing else.
enum PostField: String, CaseIterable, Sendable {
  case kind
  case author
  case title
  case caption
  case visibility
  case foreground
  case capturedAt = "captured_at"
  case latitude
  case longitude
  case place
  case placeName = "place_name"
  case placeLatitude = "place_latitude"
  case placeLongitude = "place_longitude"

  /// Those without which there is no post.
  static let required: [PostField] = [.kind, .author]

  /// What its text says, as JSON says it; text that is no number where one is expected stays text, to be refused.
  func value(_ text: String) -> JSONValue {
    switch self {
    case .latitude, .longitude, .placeLatitude, .placeLongitude:
      // Decimal alone: Double also reads hexadecimal digits and words.
      guard text.utf8.allSatisfy("0123456789+-.eE".utf8.contains), let number = Double(text) else { fallthrough }
      return .number(number)
    default: return .string(text)
    }
  }
}
