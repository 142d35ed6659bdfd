package import Crypto

/// A blob that was found to be damaged.
package struct DamagedBlob: Sendable, Hashable {
  package let hash: SHA256Digest
  /// The length that it should have.
  package let bytes: Int64
  /// Whether a run that is to make it again goes on.
  package let isMadeAgain: Bool
}
