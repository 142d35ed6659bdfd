internal import Model

/// What a user has said of a place, in the archive of the user; unknown values are null.
struct ExportedDescription: NilEncodable {
  let place: String
  let description: PlaceDescription

  private enum CodingKeys: CodingKey { case place }

  func encode(to encoder: any Encoder) throws {
    try description.encode(to: encoder)
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(place, forKey: .place)
  }
}
