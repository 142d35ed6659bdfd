import Model

/// What kind of post or image something is, by its name in the database.
package enum SubjectKind: String, Codable, Sendable, CaseIterable {
  case take5, photo, marker, reaction, profile, itinerary, place

  /// The name of the definition by which the service makes such media.
  package var definitionName: String {
    switch self {
    case .take5: "take5-post"
    case .marker: "marker-video"
    case .photo: "photo-post"
    case .reaction: "reaction"
    case .profile: "profile-image"
    case .itinerary: "itinerary-thumbnail"
    case .place: "place-photo"
    }
  }

  /// Whether it is made from clips, by a `Definition`; otherwise from photos, by a `PhotoDefinition`.
  package var isVideo: Bool { self == .take5 || self == .marker }
}
