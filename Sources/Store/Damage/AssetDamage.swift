package import Blobs
import Model
import Postgres

/// What is known of the file of an asset that is damaged.
package struct AssetDamage: Sendable, Hashable {
  package let kind: BlobDamage
  /// Whether it cannot be made again.
  package let isLost: Bool

  /// Reads the columns `damage` and `is_lost`; nil: nothing is known against it.
  init?(_ row: Row) throws {
    guard let word = try row.get("damage", as: String?.self) else { return nil }
    guard let kind = BlobDamage(rawValue: word) else { throw PostgresError(.decoding, "there is no damage \(word)") }
    self.kind = kind
    isLost = try row.get("is_lost", as: Bool?.self) ?? false
  }
}
