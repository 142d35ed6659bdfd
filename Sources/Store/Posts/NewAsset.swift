package import Blobs
package import Model

/// A media file that is about to be stored.
package struct NewAsset: Sendable {
  package var role: Role
  /// The media type (RFC 6838).
  package var type: String
  package var blob: SealedBlob
  /// In pixels, upright.
  package var width: Int?
  package var height: Int?
  /// In seconds; nil for pictures.
  package var duration: Double?
  /// The ThumbHash of a picture in base64.
  package var thumbhash: String?

  /// A file as it was submitted: nothing but its type is known.
  package init(source role: Role, type: String, blob: SealedBlob) {
    self.role = role
    self.type = type
    self.blob = blob
  }

  /// An output of a run.
  package init(_ facts: OutputFacts, blob: SealedBlob) {
    role = facts.role
    type = facts.type
    self.blob = blob
    width = facts.width
    height = facts.height
    duration = facts.duration
    thumbhash = facts.thumbhash
  }
}
