package import FoundationEssentials

/// A token that acts as one user, as the database stores it: without the token itself, which only its bearer has.
package struct UserToken: Sendable, Hashable {
  /// The start of every token, by which programs that search for leaked secrets recognize it.
  package static let prefix = "t5u_"
  /// The maximum and the default lifetime in seconds.
  package static let maxLifetime = 400 * 24 * 3600
  package static let defaultLifetime = 30 * 24 * 3600

  package let id: PublicID
  /// The app's id of the user.
  package let user: String
  /// The SHA-256 of the token.
  package let hash: [UInt8]
  package let minter: Minter
  /// The submission that the token is limited to; nil: it is not limited.
  package let grant: UploadGrant?
  package let createdAt: Date
  package let expiresAt: Date
  /// The time of the submission that used the grant; nil: it is not used, or there is none.
  package let usedAt: Date?
  /// What the user calls the device that has it; nil: nothing.
  package let device: String?
  /// The time of a request with it, which is noted once an hour; nil: none is.
  package let lastUsedAt: Date?

  package init(
    id: PublicID, user: String, hash: [UInt8], minter: Minter, grant: UploadGrant?, createdAt: Date, expiresAt: Date,
    usedAt: Date?, device: String? = nil, lastUsedAt: Date? = nil
  ) {
    self.id = id
    self.user = user
    self.hash = hash
    self.minter = minter
    self.grant = grant
    self.createdAt = createdAt
    self.expiresAt = expiresAt
    self.usedAt = usedAt
    self.device = device
    self.lastUsedAt = lastUsedAt
  }

  /// The client that minted a token. The token becomes invalid with it.
  package enum Minter: Sendable, Hashable {
    /// The API key with this number.
    case key(Int64)
    /// The operator's key, which is not stored.
    case operatorKey
    /// A client of a service that needs no key.
    case anybody
    /// The user, by signing in with a password.
    case account
  }
}

/// A permission for exactly one submission.
package struct UploadGrant: Codable, Sendable, Hashable {
  /// The permitted kinds, at least one.
  package let kinds: [SubmissionKind]
  /// The maximum length of the request's body.
  package let bytes: Int64

  package init(kinds: [SubmissionKind], bytes: Int64) {
    self.kinds = kinds
    self.bytes = bytes
  }
}
