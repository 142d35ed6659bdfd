internal import Crypto
package import HTTPServer
internal import Model
internal import Platform
package import Postgres
package import Store

/// Who may ask for what: API keys (RFC 6750, section 2.1), signed media URLs, and how often.
///
/// It judges by a copy of the stored keys that is made anew every few seconds: no request waits for the database to be
/// admitted.
package final class AccessControl: Sendable {
  /// How old the copy of the keys becomes: so long a revoked key may still be taken.
  package static let freshness = Duration.seconds(2)

  private struct Known {
    var keys: [SHA256Digest: StoredKey] = [:]
    var signing: [SigningKey] = []
  }

  // Digests are compared, not keys: equal in length and meaningless to who could time the comparison.
  private let operatorKey: SHA256Digest?
  private let limits: RateLimits
  private let now: @Sendable () -> Int
  private let known = Locked(Known())

  /// - Parameters:
  ///   - operatorKey: a key that admits to everything, whatever is stored; nil: none.
  ///   - now: in seconds since 1970-01-01 UTC.
  package init(operatorKey: String?, limits: RateLimits, now: @escaping @Sendable () -> Int) {
    self.operatorKey = operatorKey.map { SHA256.digest(of: Array($0.utf8)) }
    self.limits = limits
    self.now = now
  }

  /// Reads the keys anew.
  package func refresh(_ store: Store, _ database: Pool) async throws {
    let (keys, signing) = try await database.transaction { session in
      (try store.apiKeys(session), try store.signingKeys(session))
    }
    let active = keys.filter { $0.revokedAt == nil }.compactMap { key in SHA256Digest(bytes: key.hash).map { ($0, key) }
    }
    known.withLock { known in
      known.keys = Dictionary(active) { first, _ in first }
      known.signing = signing
    }
  }

  /// Whether a key is needed at all: without any, everybody is admitted.
  package var needsKey: Bool { operatorKey != nil || known.withLock { !$0.keys.isEmpty } }

  /// Signs media URLs as of now.
  var mediaURLs: MediaURLs { MediaURLs(keys: known.withLock(\.signing), now: now()) }

  /// Refuses a head that may not ask for what it asks for, or asks too often.
  package func admit(_ method: String, _ target: RequestTarget, _ headers: HeaderFields) throws(Problem) {
    guard let scope = Self.scope(method, target.segments) else { return }
    if target.segments.starts(with: ["v1", "media"]), target.queryValue("signature") != nil {
      switch mediaURLs.judge(target) {
      case .valid: return
      case .expired: throw ProblemKind.urlExpired.problem("The URL was valid until some time ago.")
      case .wrong: throw ProblemKind.urlInvalid.problem("The URL's signature is not one of this service.")
      }
    }
    try limits.countRequest(of: try admit(headers, scope))
  }

  /// Counts a submission of an author; throws 429 where there were too many.
  func countSubmission(of author: String, _ request: Request) throws(Problem) {
    try limits.countSubmission(of: author, tenant: tenant(of: request))
  }

  /// Whose request it is: the API key's number; empty where none is needed.
  func tenant(of request: Request) -> String {
    (try? admit(request.headers, .read)) ?? (try? admit(request.headers, .submit)) ?? ""
  }

  /// What a request needs; nil: nothing, not even a key.
  static func scope(_ method: String, _ path: [String]) -> Scope? {
    switch path.first {
    case "livez", "readyz", "openapi.json": return nil
    case "metrics": return .admin
    default: break
    }
    if path == ["v1", "jobs"] { return .admin }
    if path.count == 4, path.starts(with: ["v1", "jobs"]), ["retry", "cancel"].contains(path[3]) { return .admin }
    let isReading = method == "GET" || method == "HEAD" || path == ["v1", "posts", "search"]
    return isReading ? .read : .submit
  }

  private func admit(_ headers: HeaderFields, _ scope: Scope) throws(Problem) -> String {
    guard needsKey else { return "" }
    let parts = (headers["Authorization"] ?? "").split(separator: " ", maxSplits: 1)
    guard parts.count == 2, parts[0].lowercased() == "bearer" else {
      throw Self.unauthorized("The request has no bearer token.")
    }
    let digest = SHA256.digest(of: Array(parts[1].drop { $0 == " " }.utf8))
    if let operatorKey, HMAC.areEqual(digest, operatorKey) { return "operator" }
    guard let key = known.withLock({ $0.keys[digest] }) else {
      throw Self.unauthorized("The bearer token is none of the service's API keys.")
    }
    guard key.scopes.contains(scope) else {
      throw ProblemKind.forbidden.problem("This needs a key with the scope \(scope.rawValue).")
    }
    return "\(key.id)"
  }

  private static func unauthorized(_ detail: String) -> Problem {
    ProblemKind.unauthorized.problem(detail, headers: ["WWW-Authenticate": #"Bearer realm="take5""#])
  }
}
