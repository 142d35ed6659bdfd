package import Crypto
package import Postgres

/// Idempotent requests.
package enum Idempotency {
  /// A reason why a request cannot run under its idempotency key.
  package enum Fault: Error, Hashable {
    /// A request with this key is running.
    case running
    /// The key was used for another request.
    case otherPayload
  }

  /// Runs `body` once for each key. The caller's transaction stores the response together with the effect of `body`.
  ///
  /// A repetition of the request returns the stored response without running `body`.
  ///
  /// - Throws: `Fault`, or what `body` throws.
  package static func once(
    _ key: IdempotencyKey, _ session: Session, _ body: () throws -> IdempotentResponse
  ) throws -> (response: IdempotentResponse, isReplay: Bool) {
    let lock = try session.execute(Store.statements["lock_idempotency_key"], .text(key.tenant), .text(key.key)).single()
    guard try lock.get("held", as: Bool.self) else { throw Fault.running }
    if let row = try row(key.tenant, key.key, session) {
      guard try row.get("fingerprint", as: [UInt8].self) == key.fingerprint.bytes else {
        throw Fault.otherPayload
      }
      return (try IdempotentResponse(row), true)
    }
    let response = try body()
    try session.execute(
      Store.statements["insert_response"], .text(key.tenant), .text(key.key), .bytes(key.fingerprint.bytes),
      .integer(response.status), .text(response.location), .bytes(response.body), .bytes(key.head?.bytes),
      .text(response.tag))
    return (response, false)
  }

  /// Returns the response that is stored for a request whose head has a hash; nil if there is none, or the first request with
  /// the key had another head.
  package static func response(
    tenant: String, key: String, head: SHA256Digest, _ session: Session
  ) throws -> IdempotentResponse? {
    guard let row = try row(tenant, key, session),
      try row.get("head", as: [UInt8]?.self) == head.bytes
    else { return nil }
    return try IdempotentResponse(row)
  }

  private static func row(_ tenant: String, _ key: String, _ session: Session) throws(PostgresError) -> Row? {
    let row = try session.execute(
      Store.statements["idempotent_response"], .text(tenant), .text(key), .double(IdempotencyKey.lifetime)
    ).first
    // The commit of this transaction waits until the synchronous standbys have received all that it has seen.
    if row != nil { try session.execute(Store.statements["await_standbys"]) }
    return row
  }

  /// Deletes up to 1000 expired responses, and returns their number.
  @discardableResult
  package static func dropExpired(_ session: Session) throws(PostgresError) -> Int {
    try session.execute(Store.statements["drop_expired_responses"], .double(IdempotencyKey.lifetime)).affected
  }

  /// Returns the number of expired responses.
  package static func countExpired(_ session: Session) throws(PostgresError) -> Int {
    try session.execute(Store.statements["count_expired_responses"], .double(IdempotencyKey.lifetime)).single().get(
      "answers")
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
  /// The hash of the head, by which a repetition is recognized before its body; nil: it is not.
  package let head: SHA256Digest?

  package init(tenant: String, key: String, fingerprint: SHA256Digest, head: SHA256Digest? = nil) {
    self.tenant = tenant
    self.key = key
    self.fingerprint = fingerprint
    self.head = head
  }
}

/// The response to a request with an idempotency key, stored for repetitions of the request.
package struct IdempotentResponse: Sendable, Hashable {
  package let status: Int
  /// The header field `Location`.
  package let location: String?
  /// JSON.
  package let body: [UInt8]
  /// The header field `ETag`.
  package let tag: String?

  package init(status: Int, location: String?, body: [UInt8], tag: String? = nil) {
    self.status = status
    self.location = location
    self.body = body
    self.tag = tag
  }

  init(_ row: Row) throws(PostgresError) {
    self.init(
      status: try row.get("status"), location: try row.get("location"), body: try row.get("body"),
      tag: try row.get("tag"))
  }
}
