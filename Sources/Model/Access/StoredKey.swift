package import FoundationEssentials

/// An API key as it is stored: the key itself is known to its holder alone.
package struct StoredKey: Sendable, Hashable {
  package let id: Int64
  /// For people.
  package let name: String
  /// The SHA-256 of the key.
  package let hash: [UInt8]
  package let scopes: Set<Scope>
  package let createdAt: Date
  package let revokedAt: Date?

  package init(id: Int64, name: String, hash: [UInt8], scopes: Set<Scope>, createdAt: Date, revokedAt: Date?) {
    self.id = id
    self.name = name
    self.hash = hash
    self.scopes = scopes
    self.createdAt = createdAt
    self.revokedAt = revokedAt
  }
}
