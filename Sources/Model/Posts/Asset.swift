/// One stored media file.
package struct Asset: Sendable, Hashable {
  package let id: PublicID
  package let role: Role
  /// The media type (RFC 6838), `video/mp4` or `image/jpeg`.
  package let type: String
  package let bytes: Int64
  /// The SHA-256 of the content, 64 hexadecimal digits: the strong ETag.
  package let sha256: String
  /// In pixels, upright.
  package let width: Int?
  package let height: Int?
  /// In seconds; nil for pictures.
  package let duration: Double?
  /// The ThumbHash of a picture in base64.
  package let thumbhash: String?
  /// Tells several of one role apart: the photos of a post, from 0 on.
  package let place: Int
  /// The colour that most of a picture has, `#rrggbb`.
  package let color: String?

  package init(
    id: PublicID, role: Role, type: String, bytes: Int64, sha256: String, width: Int?, height: Int?, duration: Double?,
    thumbhash: String?, place: Int = 0, color: String? = nil
  ) {
    self.id = id
    self.role = role
    self.type = type
    self.bytes = bytes
    self.sha256 = sha256
    self.width = width
    self.height = height
    self.duration = duration
    self.thumbhash = thumbhash
    self.place = place
    self.color = color
  }
}
