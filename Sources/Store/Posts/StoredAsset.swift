package import Crypto
package import Model

/// A stored media file, ready to be served.
package struct StoredAsset: Sendable, Hashable {
  /// Where the bytes are.
  package enum Content: Sendable, Hashable {
    /// They came with the row.
    case inline([UInt8])
    /// In the blob store: `Store.openBlob`.
    case stored(SHA256Digest)
  }

  package let asset: Asset
  package let content: Content
  /// What it was made by, 64 hexadecimal digits; nil for sources.
  package let recipe: String?
}
