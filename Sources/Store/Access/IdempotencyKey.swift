package import Crypto

/// Under what a request may be repeated without being done twice (draft-ietf-httpapi-idempotency-key-header-07).
package struct IdempotencyKey: Sendable, Hashable {
  /// How long an answer is kept, in seconds.
  package static let lifetime = 24.0 * 3600

  /// Of the API key: two holders never meet under one key.
  package let tenant: String
  package let key: String
  /// Of the whole request: the same key with another payload is a mistake of the client.
  package let fingerprint: SHA256Digest

  package init(tenant: String, key: String, fingerprint: SHA256Digest) {
    self.tenant = tenant
    self.key = key
    self.fingerprint = fingerprint
  }
}
