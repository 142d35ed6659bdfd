package import Model

/// The definitions that are built in, so that no verb depends on the current folder.
package enum Definitions {
  /// A post of both clips of one moment.
  package static func take5Post() throws -> Definition {
    try JSON.decode(Definition.self, from: PackageResources.take5_post_json)
  }

  /// A marker's one clip.
  package static func markerVideo() throws -> Definition {
    try JSON.decode(Definition.self, from: PackageResources.marker_video_json)
  }

  /// The definitions of photos by their names, in the order in which they are told.
  package static let photoNames = ["photo-post", "reaction", "profile-image", "itinerary-thumbnail", "place-photo"]

  /// All definitions of photos, by their names.
  package static func photos() throws -> [String: PhotoDefinition] {
    try photoNames.reduce(into: [:]) { definitions, name in definitions[name] = try photo(name) }
  }

  /// The definition of a kind of photos; nil: there is none of this name.
  package static func photo(_ name: String) throws -> PhotoDefinition? {
    let bytes: [UInt8]
    switch name {
    case "photo-post": bytes = PackageResources.photo_post_json
    case "reaction": bytes = PackageResources.reaction_json
    case "profile-image": bytes = PackageResources.profile_image_json
    case "itinerary-thumbnail": bytes = PackageResources.itinerary_thumbnail_json
    case "place-photo": bytes = PackageResources.place_photo_json
    default: return nil
    }
    return try JSON.decode(PhotoDefinition.self, from: bytes)
  }
}
