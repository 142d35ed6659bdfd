package import Model

/// An asset and where its bytes are.
package struct StoredAsset: Sendable {
  package let asset: Asset
  /// The bytes themselves, if they lie in the database; nil: they lie in the blob store under the asset's hash.
  package let inline: [UInt8]?
}
