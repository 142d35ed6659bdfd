package import Crypto

/// What lies in a part of a blob store.
package struct BlobHoldings: Sendable, Hashable {
  /// The published blobs with their lengths.
  package var blobs: [SHA256Digest: Int64] = [:]
  /// What no blob store made.
  package var foreign: [StoredFile] = []
}
