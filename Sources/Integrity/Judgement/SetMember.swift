package import Crypto
package import Model

/// An asset of a set that is looked at.
package struct SetMember: Sendable, Hashable {
  package let id: PublicID
  package let role: Role
  package let place: Int
  package let blob: SHA256Digest
  /// The length that the asset tells.
  package let bytes: Int64
  /// The length that the row of its blob tells; nil: there is no such row.
  package let blobBytes: Int64?

  package init(id: PublicID, role: Role, place: Int, blob: SHA256Digest, bytes: Int64, blobBytes: Int64?) {
    self.id = id
    self.role = role
    self.place = place
    self.blob = blob
    self.bytes = bytes
    self.blobBytes = blobBytes
  }
}
