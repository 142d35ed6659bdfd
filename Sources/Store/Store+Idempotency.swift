package import Crypto
package import Postgres

/// Idempotent requests.
extension Store {
  /// A reason why a request cannot run under its idempotency key.
  package enum IdempotencyFault: Error, Hashable {
    /// A request with this key is running.
    case running
    /// The key was used for another request.
    case otherPayload
  }

  /// Runs `body` once for each key. The caller's transaction stores the response together with the effect of `body`.
  ///
  /// A repetition of the request returns the stored response without running `body`.
  ///
  /// - Throws: `IdempotencyFault`, or what `body` throws.
  package func once(
    _ key: IdempotencyKey, _ session: Session, _ body: () throws -> IdempotentResponse
  ) throws -> (response: IdempotentResponse, isReplay: Bool) {
    let lock = try session.execute(Self.statements["lock_idempotency_key"], .text(key.tenant), .text(key.key)).single()
    guard try lock.get("held", as: Bool.self) else { throw IdempotencyFault.running }
    let stored = try session.execute(
      Self.statements["idempotent_response"], .text(key.tenant), .text(key.key), .double(IdempotencyKey.lifetime))
    if let row = stored.first {
      guard try row.get("fingerprint", as: [UInt8].self) == key.fingerprint.bytes else {
        throw IdempotencyFault.otherPayload
      }
      let response = IdempotentResponse(
        status: try row.get("status"), location: try row.get("location"), body: try row.get("body"))
      return (response, true)
    }
    let response = try body()
    try session.execute(
      Self.statements["insert_response"], .text(key.tenant), .text(key.key), .bytes(key.fingerprint.bytes),
      .integer(response.status), .text(response.location), .bytes(response.body))
    return (response, false)
  }

  /// Deletes up to 1000 expired responses, and returns their number.
  @discardableResult
  package func dropExpiredResponses(_ session: Session) throws(PostgresError) -> Int {
    try session.execute(Self.statements["drop_expired_responses"], .double(IdempotencyKey.lifetime)).affected
  }

  /// Returns the number of expired responses.
  package static func countExpiredResponses(_ session: Session) throws(PostgresError) -> Int {
    try session.execute(statements["count_expired_responses"], .double(IdempotencyKey.lifetime)).single().get("answers")
  }
}

/// The key by which a repeated request is recognized (draft-ietf-httpapi-idempotency-key-header-07).
package struct IdempotencyKey: Sendable, Hashable {
  /// The time for which a response is stored, in seconds.
  package static let lifetime = 24.0 * 3600

  /// The id of the API key: clients with different API keys may use the same idempotency key.
  package let tenant: String
  package let key: String
  /// The hash of the entire request: a client must not use a key for two different requests.
  package let fingerprint: SHA256Digest

  package init(tenant: String, key: String, fingerprint: SHA256Digest) {
    self.tenant = tenant
    self.key = key
    self.fingerprint = fingerprint
  }
}

/// The response to a request with an idempotency key, stored for repetitions of the request.
package struct IdempotentResponse: Sendable, Hashable {
  package let status: Int
  /// The header field `Location`.
  package let location: String?
  /// JSON.
  package let body: [UInt8]

  package init(status: Int, location: String?, body: [UInt8]) {
    self.status = status
    self.location = location
    self.body = body
  }
}
