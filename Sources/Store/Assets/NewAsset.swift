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

  package init(
    role: Role, type: String, content: SealedBlob, width: Int? = nil, height: Int? = nil, duration: Double? = nil,
    thumbhash: String? = nil
  ) {
    self.role = role
    self.type = type
    self.content = content
    self.width = width
    self.height = height
    self.duration = duration
    self.thumbhash = thumbhash
  }

  /// An output of a run.
  package init(_ facts: OutputFacts, content: SealedBlob) {
    self.init(
      role: facts.role, type: facts.type, content: content, width: facts.width, height: facts.height,
      duration: facts.duration, thumbhash: facts.thumbhash)
  }

  /// The most bytes that lie in the blob's row instead of the blob store.
  static let mostInline: Int64 = 256 << 10

  /// Whether its bytes lie in the database: small images are read with one query.
  var isInline: Bool { type.hasPrefix("image/") && content.bytes <= Self.mostInline }
}
