package import Blobs
package import Model

/// A media file that is to become an asset, its bytes sealed but not yet published.
package struct NewAsset: Sendable {
  package let role: Role
  /// The media type (RFC 6838).
  package let type: String
  package let content: SealedBlob
  package let width: Int?
  package let height: Int?
  /// In seconds.
  package let duration: Double?
  package let thumbhash: String?
  /// Tells several of one role apart, from 0 on.
  package let place: Int
  /// The colour that most of it has, `#rrggbb`.
  package let color: String?

  package init(
    role: Role, type: String, content: SealedBlob, width: Int? = nil, height: Int? = nil, duration: Double? = nil,
    thumbhash: String? = nil, place: Int = 0, color: String? = nil
  ) {
    self.role = role
    self.type = type
    self.content = content
    self.width = width
    self.height = height
    self.duration = duration
    self.thumbhash = thumbhash
    self.place = place
    self.color = color
  }

  /// An output of a run.
  package init(_ facts: OutputFacts, content: SealedBlob) {
    self.init(
      role: facts.role, type: facts.type, content: content, width: facts.width, height: facts.height,
      duration: facts.duration, thumbhash: facts.thumbhash)
  }

  /// A variant of one of several photos.
  package init(_ facts: OutputFacts, of photo: PhotoReport, place: Int, content: SealedBlob) {
    self.init(
      role: facts.role, type: facts.type, content: content, width: facts.width, height: facts.height,
      thumbhash: photo.thumbhash, place: place, color: photo.dominantColor)
  }

  /// The most bytes that lie in the blob's row instead of the blob store.
  static let maxInlineBytes: Int64 = 256 << 10

  /// Whether its bytes lie in the database: small images are read with one query. Sources are read by descriptor.
  var isInline: Bool { !role.isSource && type.hasPrefix("image/") && content.bytes <= Self.maxInlineBytes }
}
