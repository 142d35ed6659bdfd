package import Crypto

/// A stored media file that may be served.
package struct StoredMedia: Sendable {
  /// Where its bytes lie.
  package enum Content: Sendable {
    case inline([UInt8])
    case blob
  }

  /// The media type (RFC 6838).
  package let type: String
  /// The length.
  package let bytes: Int64
  package let hash: SHA256Digest
  package let content: Content

  package init(type: String, bytes: Int64, hash: SHA256Digest, content: Content) {
    self.type = type
    self.bytes = bytes
    self.hash = hash
    self.content = content
  }
}
