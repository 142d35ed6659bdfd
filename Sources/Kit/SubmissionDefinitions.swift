package import ISOBaseMedia
package import Model

/// The definitions that submissions are processed with.
package struct SubmissionDefinitions: Sendable {
  /// The name of the definition of photo posts.
  package static let photoPost = "photo-post"

  /// The definition of moments.
  package var moment: Definition
  /// The definition of a marker's video.
  package var clip: Definition
  /// The definitions of photos and images, by name.
  package var photos: [String: PhotoDefinition]
  /// The kinds of collections, by name.
  package var collections: [String: CollectionDefinition]
  /// The fields of posts and of users.
  package var fields: RecordFields

  package init(
    moment: Definition, clip: Definition, photos: [String: PhotoDefinition],
    collections: [String: CollectionDefinition], fields: RecordFields = RecordFields()
  ) {
    self.moment = moment
    self.clip = clip
    self.photos = photos
    self.collections = collections
    self.fields = fields
  }

  /// The names of the definitions of media.
  package var mediaNames: [String] { [moment.name, clip.name] + photos.keys.sorted() }

  /// The maximum length of a file of any submission.
  package var maxBytes: Int64 {
    max(moment.limits.bytes, clip.limits.bytes, photos.values.map(\.limits.bytes).max() ?? 0)
  }

  /// Whether the definition for a kind of posts holds them.
  package func holds(_ kind: PostKind) -> Bool {
    let rule =
      switch kind {
      case .take5: moment.moderation
      case .photo: photos[Self.photoPost]?.moderation
      case .marker: clip.moderation
      }
    return rule == .hold
  }

  /// Returns a definition of photos or images by its name.
  package func photo(_ name: String) -> PhotoDefinition {
    guard let definition = photos[name] else { preconditionFailure("unknown definition '\(name)'") }
    return definition
  }

  /// What a file may be whose use is not known.
  package var anyUse: AcceptedMedia {
    AcceptedMedia(anyOf: [moment.limits, clip.limits], photos.values.map(\.limits))
  }
}
