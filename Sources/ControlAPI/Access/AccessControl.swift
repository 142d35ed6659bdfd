internal import Crypto
import HTTPServer
import Model
package import Platform
package import Postgres
package import Store

/// Authorizes requests by API keys (RFC 6750, section 2.1) and signed media URLs, and limits their rate.
///
/// It uses an in-memory copy of the stored keys that `refresh` updates, so that no request waits for the database to be
/// authorized. Until the first refresh, only the operator's key is valid.
package final class AccessControl: Sendable {
  /// The interval between refreshes: a revoked key stays valid for up to this long.
  package static let refreshInterval = Duration.seconds(2)

  private struct KeyCache {
    /// Whether a key was ever created, even if it is revoked now; nil: not known yet.
    var hasKeyBeenCreated: Bool?
    var keys: [SHA256Digest: StoredKey] = [:]
    /// The hashes of the keys by their names in signed URLs.
    var digests: [String: SHA256Digest] = [:]
    var signing: [SigningKey] = []
  }

  // Digests are compared instead of keys: their length is constant, and timing a comparison reveals nothing of a key.
  private let operatorKey: SHA256Digest?
  private let isLoopback: Bool
  private let limits: RateLimits
  private let now: @Sendable () -> Int
  private let onProxy: @Sendable (IPAddress) -> Void
  private let cache = Locked(KeyCache())

  /// - Parameters:
  ///   - operatorKey: a key with all scopes that is not stored in the database; nil: none.
  ///   - isLoopback: whether only this machine can connect to the service. Otherwise every request needs a key.
  ///   - now: returns the time in seconds since 1970-01-01 UTC.
  ///   - onProxy: called with the client's address when a request arrives through a proxy although no key is needed; it
  ///     must not block.
  package init(
    operatorKey: String?, isLoopback: Bool, limits: RateLimits, now: @escaping @Sendable () -> Int,
    onProxy: @escaping @Sendable (IPAddress) -> Void = { _ in }
  ) {
    self.operatorKey = operatorKey.map { SHA256.digest(of: Array($0.utf8)) }
    self.isLoopback = isLoopback
    self.limits = limits
    self.now = now
    self.onProxy = onProxy
  }

  /// Reads the keys from the database.
  package func refresh(_ store: Store, _ database: Pool) async throws {
    let (keys, signing) = try await database.transaction { session in
      (try store.apiKeys(session), try store.signingKeys(session))
    }
    let active = keys.filter { $0.revokedAt == nil }.compactMap { key in
      SHA256Digest(bytes: key.hash).map { ($0, key) }
    }
    cache.withLock { cache in
      // A database restored from before the first key does not open the service.
      cache.hasKeyBeenCreated = cache.hasKeyBeenCreated == true || !keys.isEmpty
      cache.keys = Dictionary(active) { first, _ in first }
      cache.digests = Dictionary(active.map { ("\($1.id)", $0) }) { first, _ in first }
      cache.signing = signing
    }
  }

  /// Whether a valid key exists.
  package var hasKey: Bool { operatorKey != nil || cache.withLock { !$0.keys.isEmpty } }

  /// Whether every request needs a key. This depends on the address and on whether a key was ever created, not on the
  /// keys that are left: revoking the last key closes the service.
  package var needsKey: Bool {
    !isLoopback || operatorKey != nil || cache.withLock { $0.hasKeyBeenCreated != false }
  }

  // MARK: Requests

  /// Authorizes a request by its head; throws a problem if it is not allowed or exceeds its rate limit.
  ///
  /// - Returns: the name of the key; nil without one.
  func admit(_ head: RequestHead, from client: IPAddress, to access: RouteAccess) throws(Problem) -> String? {
    switch access {
    case .unlimited: return nil
    case .anyone:
      try limits.countRequest(of: client)
      return nil
    case .keyOrSignature where head.target.queryValue("signature") != nil:
      try admitSigned(head, from: client)
      return nil
    case .key(let scopes), .keyOrSignature(let scopes): return try admitKey(head, from: client, scopes)
    }
  }

  private func admitKey(_ head: RequestHead, from client: IPAddress, _ scopes: Set<Scope>) throws(Problem) -> String? {
    guard needsKey else {
      try checkOrigin(head, from: client)
      try limits.countRequest(of: client)
      return nil
    }
    let key: StoredKey?
    do {
      key = try self.key(of: head)
    } catch {
      try limits.countRequest(of: client)
      throw error
    }
    let principal = key.map { "\($0.id)" } ?? Self.operatorName
    try limits.countRequest(ofKey: principal)
    // The operator's key is not stored and has all scopes.
    let missing = key.map { scopes.subtracting($0.scopes).map(\.rawValue).sorted() } ?? []
    guard missing.isEmpty else {
      throw ProblemKind.forbidden.problem(
        "The request needs an API key with the scope \(missing.joined(separator: " and ")).")
    }
    return principal
  }

  private func admitSigned(_ head: RequestHead, from client: IPAddress) throws(Problem) {
    if !needsKey { try checkOrigin(head, from: client) }
    try limits.countRequest(of: client)
    let reader = MediaURLs.readerName(of: head.target).flatMap(reader)
    switch reader.map({ urls(for: $0).verify(head.target) }) ?? .invalid {
    case .valid: return
    case .expired: throw ProblemKind.urlExpired.problem("The time in the parameter expires has passed.")
    case .invalid: throw ProblemKind.urlInvalid.problem("The signature is invalid or was revoked.")
    }
  }

  /// Counts a submission of an author; throws a problem with status 429 if the limit is exceeded.
  func countSubmission(of author: String, _ request: Request) throws(Problem) {
    try limits.countSubmission(of: author, tenant: request.principal ?? "")
  }

  /// Returns the stored key of a request, or nil for the operator's key; throws a problem with status 401 without one.
  private func key(of head: RequestHead) throws(Problem) -> StoredKey? {
    let parts = (head.headers["Authorization"] ?? "").split(separator: " ", maxSplits: 1)
    guard head.headers.values("Authorization").count == 1, parts.count == 2, parts[0].lowercased() == "bearer" else {
      throw Self.unauthorized("The request has no bearer token.")
    }
    let digest = SHA256.digest(of: Array(parts[1].drop { $0 == " " }.utf8))
    if let operatorKey, HMAC.areEqual(digest, operatorKey) { return nil }
    guard let key = cache.withLock({ $0.keys[digest] }) else {
      throw Self.unauthorized("The bearer token is not a valid API key.")
    }
    return key
  }

  private static func unauthorized(_ detail: String) -> Problem {
    ProblemKind.unauthorized.problem(detail, headers: ["WWW-Authenticate": #"Bearer realm="take5""#])
  }

  /// Refuses requests that a web page of another origin makes a browser on this machine send; without keys nothing else
  /// stops them.
  ///
  /// A host name other than this machine's lets a page read across origins (DNS rebinding); a request of another origin
  /// can submit without reading (RFC 6454; Fetch Metadata Request Headers, section 2.3).
  private func checkOrigin(_ head: RequestHead, from client: IPAddress) throws(Problem) {
    guard !["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"].contains(where: { head.headers[$0] != nil }) else {
      onProxy(client)
      throw ProblemKind.foreignHost.problem("The request was forwarded by a proxy, which other machines may reach.")
    }
    guard let host = head.host,
      host == "localhost" || host.hasSuffix(".localhost") || IPAddress(host)?.isLoopback == true
    else {
      throw ProblemKind.foreignHost.problem("The request is for \(head.host ?? "no host"), which is not this machine.")
    }
    let site = head.headers["Sec-Fetch-Site"] ?? "none"
    let origin = head.headers["Origin"]
    guard ["same-origin", "none"].contains(site), origin == nil || origin == "http://\(head.authority ?? "")" else {
      throw ProblemKind.foreignOrigin.problem("The origin of the request is \(origin ?? "another site").")
    }
  }

  // MARK: Media

  private static let operatorName = "operator"
  private static let anybody = MediaURLs.Reader(name: "anybody", keyHash: "")

  /// Returns the signer of media URLs in the response to a request.
  func mediaURLs(for request: Request) -> MediaURLs {
    urls(for: request.principal.flatMap(reader) ?? Self.anybody)
  }

  /// Returns the seconds for which the signed URL of an admitted request stays valid; nil if it has no signature.
  ///
  /// `admit` has verified the signature.
  func secondsLeft(of target: RequestTarget) -> Int? {
    guard target.queryValue("signature") != nil, let expires = target.queryValue("expires").flatMap({ Int($0) }) else {
      return nil
    }
    return max(0, expires - now())
  }

  private func urls(for reader: MediaURLs.Reader) -> MediaURLs {
    MediaURLs(keys: cache.withLock(\.signing), reader: reader, now: now())
  }

  /// Returns the reader of a name; nil if its key is not valid.
  private func reader(_ name: String) -> MediaURLs.Reader? {
    if name == Self.anybody.name { return needsKey ? nil : Self.anybody }
    if name == Self.operatorName { return operatorKey.map { MediaURLs.Reader(name: name, keyHash: $0.hex) } }
    return cache.withLock { $0.digests[name] }.map { MediaURLs.Reader(name: name, keyHash: $0.hex) }
  }
}
