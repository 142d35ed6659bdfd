/// What is known of one output that a run wrote.
package struct OutputFacts: Codable, Sendable, Hashable {
  package var role: Role
  /// The media type (RFC 6838).
  package var type: String
  package var bytes: Int64
  /// In pixels, upright.
  package var width: Int
  package var height: Int
  /// In seconds; nil for pictures.
  package var duration: Double?
  /// The ThumbHash of a picture in base64.
  package var thumbhash: String?

  package init(
    role: Role, type: String, bytes: Int64, width: Int, height: Int, duration: Double? = nil, thumbhash: String? = nil
  ) {
    self.role = role
    self.type = type
    self.bytes = bytes
    self.width = width
    self.height = height
    self.duration = duration
    self.thumbhash = thumbhash
  }
}
