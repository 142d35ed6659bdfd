package import Model

/// The built-in definitions, which are compiled into the program.
package enum Definitions {
  /// The definition of a post with both clips of a moment.
  package static func take5Post() throws -> Definition {
    try JSON.decode(Definition.self, from: PackageResources.take5_post_json)
  }

  /// The definition of a marker with one clip.
  package static func markerVideo() throws -> Definition {
    try JSON.decode(Definition.self, from: PackageResources.marker_video_json)
  }

  /// The kinds of collections by name.
  package static func collections() throws -> [String: CollectionDefinition] {
    try [
      PackageResources.itinerary_json, PackageResources.favourites_json, PackageResources.album_json,
    ].reduce(into: [:]) { kinds, bytes in
      let kind = try JSON.decode(CollectionDefinition.self, from: bytes)
      kinds[kind.name] = kind
    }
  }

  /// The names of the photo definitions, in the order in which they are listed.
  package static let photoNames = ["photo-post", "reaction", "profile-image", "itinerary-thumbnail", "place-photo"]

  /// All photo definitions by name.
  package static func photos() throws -> [String: PhotoDefinition] {
    try photoNames.reduce(into: [:]) { definitions, name in definitions[name] = try photo(name) }
  }

  /// The photo definition of a name; nil if there is none.
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
