package import Crypto
package import Model
import Postgres

/// An asset and where its bytes are.
package struct StoredAsset: Sendable {
  package let asset: Asset
  /// The bytes themselves, if they lie in the database; nil: they lie in the blob store under the asset's hash.
  package let inline: [UInt8]?
  /// What it was made by, besides the sources: the same for the same bytes; nil for sources.
  package let recipe: SHA256Digest?
  /// Names its blob.
  package let hash: SHA256Digest
  /// What is known against its file; nil: nothing.
  package let damage: AssetDamage?

  init(_ asset: Asset, _ row: Row) throws {
    self.asset = asset
    inline = try row.get("inline_content")
    guard asset.bytes >= 0, inline.map({ Int64($0.count) == asset.bytes }) ?? true else {
      throw PostgresError(.decoding, "the asset \(asset.id) has another size than its row says")
    }
    guard let hash = SHA256Digest(hex: asset.sha256) else {
      throw PostgresError(.decoding, "a blob's name is not a SHA-256")
    }
    self.hash = hash
    damage = try AssetDamage(row)
    recipe = try row.get("recipe", as: [UInt8]?.self).flatMap { SHA256Digest(bytes: $0) }
  }
}
