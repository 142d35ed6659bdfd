internal import Crypto
package import HTTPServer
package import Model
package import Platform
package import Postgres
package import Store

/// Who may ask for what: API keys (RFC 6750, section 2.1), signed media URLs, and how often.
///
/// It judges by a copy of the stored keys that is made again every few seconds: no request waits for the database to be
/// admitted. Until the first copy is there, only the operator's key admits.
package final class AccessControl: Sendable {
  /// How old the copy of the keys becomes: so long a revoked key may still be taken.
  package static let freshness = Duration.seconds(2)

  private struct Known {
    /// Whether a key was ever made, be it revoked by now; nil: not known yet.
    var hasKeyBeenMade: Bool?
    var keys: [SHA256Digest: StoredKey] = [:]
    /// By the name that signed URLs have for them.
    var digests: [String: SHA256Digest] = [:]
    var signing: [SigningKey] = []
  }

  // Digests are compared, not keys: equal in length and meaningless to who could time the comparison.
  private let operatorKey: SHA256Digest?
  private let isLoopback: Bool
  private let limits: RateLimits
  private let now: @Sendable () -> Int
  private let onProxy: @Sendable (IPAddress) -> Void
  private let known = Locked(Known())

  /// - Parameters:
  ///   - operatorKey: a key that admits to everything, whatever is stored; nil: none.
  ///   - isLoopback: whether only this machine can reach the service. Nowhere else does it work without a key.
  ///   - now: in seconds since 1970-01-01 UTC.
  ///   - onProxy: hears of each request that a proxy brings although no key is needed, and from where; it must not block.
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

  /// Reads the keys again.
  package func refresh(_ store: Store, _ database: Pool) async throws {
    let (keys, signing) = try await database.transaction { session in
      (try store.apiKeys(session), try store.signingKeys(session))
    }
    let active = keys.filter { $0.revokedAt == nil }.compactMap { key in
      SHA256Digest(bytes: key.hash).map { ($0, key) }
    }
    known.withLock { known in
      // A database that was set back opens nothing.
      known.hasKeyBeenMade = known.hasKeyBeenMade == true || !keys.isEmpty
      known.keys = Dictionary(active) { first, _ in first }
      known.digests = Dictionary(active.map { ("\($1.id)", $0) }) { first, _ in first }
      known.signing = signing
    }
  }

  /// Whether there is a key that admits to something.
  package var hasKey: Bool { operatorKey != nil || known.withLock { !$0.keys.isEmpty } }

  /// Whether nobody is answered without a key. What decides is the address and whether a key was ever made, never what
  /// is left of them: revoking the last one closes the service.
  package var needsKey: Bool {
    !isLoopback || operatorKey != nil || known.withLock { $0.hasKeyBeenMade != false }
  }

  // MARK: Requests

  /// Refuses a head that may not ask for what it asks for, or asks too often.
  ///
  /// - Parameter scopes: what a key must admit to; none: anybody may ask. Nil: any key does, for what is not served.
  /// - Returns: whose request it is; nil where no key is needed.
  package func admit(
    _ head: RequestHead, from client: IPAddress, needs scopes: Set<Scope>?
  ) throws(Problem) -> String? {
    if scopes?.isEmpty == true {
      try limits.countRequest(of: client)
      return nil
    }
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
    // The operator's key, which is not stored, admits to everything.
    let missing = key.map { (scopes ?? []).subtracting($0.scopes).map(\.rawValue).sorted() } ?? []
    guard missing.isEmpty else {
      throw ProblemKind.forbidden.problem("This needs a key with the scope \(missing.joined(separator: " and ")).")
    }
    return principal
  }

  /// Refuses a head that asks for media and may not: with a signature it needs no key.
  func admitToMedia(_ head: RequestHead, from client: IPAddress) throws(Problem) -> String? {
    guard head.target.queryValue("signature") != nil else { return try admit(head, from: client, needs: [.read]) }
    if !needsKey { try checkOrigin(head, from: client) }
    try limits.countRequest(of: client)
    switch judge(head.target) {
    case .valid: return nil
    case .expired: throw ProblemKind.urlExpired.problem("The URL was valid until some time ago.")
    case .wrong: throw ProblemKind.urlInvalid.problem("The URL's signature is not one of this service, or was revoked.")
    }
  }

  /// Counts a submission of an author; throws 429 where there were too many.
  func countSubmission(of author: String, _ request: Request) throws(Problem) {
    try limits.countSubmission(of: author, tenant: request.principal ?? "")
  }

  /// The stored key that a head shows; nil: the operator's.
  private func key(of head: RequestHead) throws(Problem) -> StoredKey? {
    let parts = (head.headers["Authorization"] ?? "").split(separator: " ", maxSplits: 1)
    guard head.headers.values("Authorization").count == 1, parts.count == 2, parts[0].lowercased() == "bearer" else {
      throw Self.unauthorized("The request has no bearer token.")
    }
    let digest = SHA256.digest(of: Array(parts[1].drop { $0 == " " }.utf8))
    if let operatorKey, HMAC.areEqual(digest, operatorKey) { return nil }
    guard let key = known.withLock({ $0.keys[digest] }) else {
      throw Self.unauthorized("The bearer token is none of the service's API keys.")
    }
    return key
  }

  private static func unauthorized(_ detail: String) -> Problem {
    ProblemKind.unauthorized.problem(detail, headers: ["WWW-Authenticate": #"Bearer realm="take5""#])
  }

  /// Refuses what a page in a browser on this machine asks for on somebody else's behalf, where no key would stop it.
  ///
  /// A foreign name for this machine is how a page reads across origins (DNS rebinding); a foreign origin is how it
  /// submits without reading (RFC 6454; Fetch Metadata Request Headers, section 2.3).
  private func checkOrigin(_ head: RequestHead, from client: IPAddress) throws(Problem) {
    guard !["X-Forwarded-For", "Forwarded", "Via", "X-Real-IP"].contains(where: { head.headers[$0] != nil }) else {
      onProxy(client)
      throw ProblemKind.foreignHost.problem("The request comes through a proxy, which others may reach.")
    }
    guard let host = head.host,
      host == "localhost" || host.hasSuffix(".localhost") || IPAddress(host)?.isLoopback == true
    else {
      throw ProblemKind.foreignHost.problem("The request names \(head.host ?? "no host"), which is not this machine.")
    }
    let site = head.headers["Sec-Fetch-Site"] ?? "none"
    let origin = head.headers["Origin"]
    guard ["same-origin", "none"].contains(site), origin == nil || origin == "http://\(head.authority ?? "")" else {
      throw ProblemKind.foreignOrigin.problem("The request comes from a page of \(origin ?? "another site").")
    }
  }

  // MARK: Media

  private static let operatorName = "operator"
  private static let anybody = MediaURLs.Reader(name: "anybody", proof: "")

  /// Signs media URLs as of now, for whom a request is answered.
  func mediaURLs(for request: Request) -> MediaURLs {
    urls(for: request.principal.flatMap(reader) ?? Self.anybody)
  }

  /// Judges a URL that carries a signature.
  func judge(_ target: RequestTarget) -> MediaURLs.Judgement {
    guard let reader = MediaURLs.readerName(of: target).flatMap(reader) else { return .wrong }
    return urls(for: reader).judge(target)
  }

  private func urls(for reader: MediaURLs.Reader) -> MediaURLs {
    MediaURLs(keys: known.withLock(\.signing), reader: reader, now: now())
  }

  /// Whom a name stands for; nil once that may not read any more.
  private func reader(_ name: String) -> MediaURLs.Reader? {
    if name == Self.anybody.name { return needsKey ? nil : Self.anybody }
    if name == Self.operatorName { return operatorKey.map { MediaURLs.Reader(name: name, proof: $0.hex) } }
    return known.withLock { $0.digests[name] }.map { MediaURLs.Reader(name: name, proof: $0.hex) }
  }
}
