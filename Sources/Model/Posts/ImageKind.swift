/// What an image that was submitted by itself is to its owner.
package enum ImageKind: String, Codable, Sendable, CaseIterable {
  /// A selfie in answer to a post; the owner is the post.
  case reaction
  /// Of a user; a new one replaces the old one.
  case profile
  /// The thumbnail of an itinerary; a new one replaces the old one.
  case itinerary
  /// One of the photos of a place.
  case place

  /// Whether only the image that was submitted last is kept.
  package var replaces: Bool { self == .profile || self == .itinerary }

  /// The name of the definition that says what is made of it.
  package var definition: String {
    switch self {
    case .reaction: "reaction"
    case .profile: "profile-image"
    case .itinerary: "itinerary-thumbnail"
    case .place: "place-photo"
    }
  }
}
