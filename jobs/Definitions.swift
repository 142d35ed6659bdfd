package import Model

/// The built-in definitions, which are compiled into the program.
package enum Definitions {
  /// A built-in definition as it stands in `jobs/`.
  package struct Document: Sendable {
    /// What a definition is for.
    package enum Kind: String, Encodable, Sendable {
      case clips
      case photos
      case collections
      case fields
    }

    package let name: String
    package let kind: Kind
    /// What is made with it.
    package let purpose: String
    /// The JSON.
    package let bytes: [UInt8]

    fileprivate init(_ name: String, _ kind: Kind, _ purpose: String, _ bytes: [UInt8]) {
      self.name = name
      self.kind = kind
      self.purpose = purpose
      self.bytes = bytes
    }
  }

  /// All of them, in the order in which they are listed.
  package static let documents = [
    Document("take5-post", .clips, "posts of two clips", PackageResources.take5_post_json),
    Document("marker-video", .clips, "markers with a clip", PackageResources.marker_video_json),
    Document("photo-post", .photos, "posts of photos, and markers with a photo", PackageResources.photo_post_json),
    Document("reaction", .photos, "reactions to posts", PackageResources.reaction_json),
    Document("profile-image", .photos, "profile images of users", PackageResources.profile_image_json),
    Document(
      "itinerary-thumbnail", .photos, "thumbnails of collections", PackageResources.itinerary_thumbnail_json),
    Document("place-photo", .photos, "photos of places", PackageResources.place_photo_json),
    Document("itinerary", .collections, "itineraries", PackageResources.itinerary_json),
    Document("favourites", .collections, "lists of favourite places", PackageResources.favourites_json),
    Document("album", .collections, "albums of posts", PackageResources.album_json),
    Document("fields", .fields, "fields of posts and of users", PackageResources.fields_json),
  ]

  /// The titles and bodies of notifications.
  package static let notifications = PackageResources.notifications_json

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
    try documents.filter { $0.kind == .collections }.reduce(into: [:]) { kinds, document in
      kinds[document.name] = try JSON.decode(CollectionDefinition.self, from: document.bytes)
    }
  }

  /// The fields of posts and of users.
  package static func fields() throws -> RecordFields {
    try JSON.decode(RecordFields.self, from: PackageResources.fields_json)
  }

  /// The names of the photo definitions, in the order in which they are listed.
  package static let photoNames = documents.filter { $0.kind == .photos }.map(\.name)

  /// All photo definitions by name.
  package static func photos() throws -> [String: PhotoDefinition] {
    try photoNames.reduce(into: [:]) { definitions, name in definitions[name] = try photo(name) }
  }

  /// The photo definition of a name; nil if there is none.
  package static func photo(_ name: String) throws -> PhotoDefinition? {
    try documents.first { $0.name == name && $0.kind == .photos }.map { document in
      try JSON.decode(PhotoDefinition.self, from: document.bytes)
    }
  }
}
