package import FoundationEssentials

/// An API key as the database stores it: without the key itself, which only its owner has.
package struct StoredKey: Sendable, Hashable {
  package let id: Int64
  /// A label for operators.
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

/// A permission of an API key or of a user token.
package enum Scope: String, Codable, Sendable, CaseIterable {
  /// Submit posts, comments, reactions and images.
  case submit
  /// Read and list.
  case read
  /// Change submitted posts.
  case change
  /// Delete what was submitted.
  case delete
  /// Mint, list and revoke user tokens.
  case tokens
  /// Read the events of all users.
  case events
  /// Create, read, change and delete webhooks.
  case webhooks
  /// Read and decide cases of moderation.
  case moderate
  /// Read the metrics and jobs of the service.
  case admin

  /// What a client may do that acts as a user; the rest is for an app's back-end and for operators.
  package static let ofUsers: Set<Scope> = [.submit, .read, .change, .delete]
}

/// A secret that signs media URLs.
package struct SigningKey: Sendable, Hashable {
  package let id: Int64
  /// 32 random bytes.
  package let secret: [UInt8]

  package init(id: Int64, secret: [UInt8]) {
    self.id = id
    self.secret = secret
  }
}
