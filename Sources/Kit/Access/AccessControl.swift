internal import Crypto
package import HTTPServer
import Model
package import Platform
package import Postgres
internal import Store

/// Knows the credentials of clients: the operator's key, API keys, user tokens, and the readers of signed media URLs. How
/// a request is admitted by them is in AccessControl+Admission.swift, the sign-in of the console in AccessControl+Console.swift.
///
/// It uses an in-memory copy of the stored keys that `refresh` updates, so that no request with an API key waits for the
/// database to be authorized. Until the first refresh, only the operator's key is valid.
package final class AccessControl: Sendable {
  /// The interval between refreshes: a revoked key stays valid, and a suspended user is admitted, for up to this long.
  package static let refreshInterval = Duration.seconds(2)

  private struct KeyCache {
    /// Whether a key was ever created, even if it is revoked now; nil: not known yet.
    var hasKeyBeenCreated: Bool?
    var keys: [SHA256Digest: StoredKey] = [:]
    /// The hashes of the keys by their names in signed URLs.
    var digests: [String: SHA256Digest] = [:]
    var revoked: Set<Int64> = []
    var signing: [SigningKey] = []
    var suspended: Set<UserKey> = []
    /// How often the suspended users had changed when they were read; nil: they were not read yet.
    var suspensionNumber: Int64?
  }

  // Digests are compared instead of keys: their length is constant, and timing a comparison reveals nothing of a key.
  private let operatorKey: SHA256Digest?
  private let isLoopback: Bool
  package let limits: RateLimits
  package let tokens: UserTokenCache
  let providers: IdentityProviders
  package let hasAccounts: Bool
  /// Where clients reach the service; nil: as their requests say.
  package let publicURL: PublicURL?
  /// Whether the database has room; nil: there is no limit.
  package let databaseSpace: DatabaseSpace?
  let onProxy: @Sendable (IPAddress) -> Void
  let now: @Sendable () -> Int
  private let cache = Locked(KeyCache())

  /// - Parameters:
  ///   - operatorKey: a key with all scopes that is not stored in the database; nil: none.
  ///   - isLoopback: whether only this machine can connect to the service. Otherwise every request needs a key.
  ///   - tokens: finds user tokens.
  ///   - providers: the app's identity providers.
  ///   - hasAccounts: whether users sign in with a password.
  ///   - publicURL: where clients reach the service; nil: as their requests say.
  ///   - databaseSpace: whether the database has room; nil: there is no limit.
  ///   - now: returns the time in seconds since 1970-01-01 UTC.
  ///   - onProxy: called with the client's address when a request arrives through a proxy although no key is needed; it
  ///     must not block.
  package init(
    operatorKey: String?, isLoopback: Bool, limits: RateLimits, tokens: UserTokenCache,
    providers: IdentityProviders = IdentityProviders([]), hasAccounts: Bool = false, publicURL: PublicURL? = nil,
    databaseSpace: DatabaseSpace? = nil,
    now: @escaping @Sendable () -> Int,
    onProxy: @escaping @Sendable (IPAddress) -> Void = { _ in }
  ) {
    self.operatorKey = operatorKey.map { SHA256.digest(of: Array($0.utf8)) }
    self.isLoopback = isLoopback
    self.limits = limits
    self.tokens = tokens
    self.providers = providers
    self.hasAccounts = hasAccounts
    self.publicURL = publicURL
    self.databaseSpace = databaseSpace
    self.now = now
    self.onProxy = onProxy
  }

  /// Reads the keys from the database, and the suspended users if they have changed.
  ///
  /// - Parameter readMore: what is to be read in the same transaction.
  package func refresh(
    _ database: Pool, alsoReading readMore: @Sendable (Session) throws -> Void = { _ in }
  ) async throws {
    let known = cache.withLock(\.suspensionNumber)
    let (keys, signing, number, suspended) = try await database.transaction { session in
      // The number before the users: what changes between the two is read again next time.
      let number = try Suspensions.number(session)
      let read = (
        try Keys.list(session), try Keys.signingKeys(session), number,
        number == known ? nil : try Suspensions.users(session)
      )
      try readMore(session)
      return read
    }
    let active = keys.filter { $0.revokedAt == nil }.compactMap { key in
      SHA256Digest(bytes: key.hash).map { ($0, key) }
    }
    cache.withLock { cache in
      // A database restored from before the first key does not open the service.
      cache.hasKeyBeenCreated = cache.hasKeyBeenCreated == true || !keys.isEmpty
      cache.keys = Dictionary(active) { first, _ in first }
      cache.digests = Dictionary(active.map { ("\($1.id)", $0) }) { first, _ in first }
      cache.revoked = Set(keys.filter { $0.revokedAt != nil }.map(\.id))
      cache.signing = signing
      if let suspended { (cache.suspended, cache.suspensionNumber) = (suspended, number) }
    }
  }

  /// Whether a valid key exists.
  package var hasKey: Bool { operatorKey != nil || cache.withLock { !$0.keys.isEmpty } }

  /// Whether every request needs a key. This depends on the address and on whether a key was ever created, not on the
  /// keys that are left: revoking the last key closes the service. With an identity provider or accounts, clients are users.
  package var needsKey: Bool {
    !isLoopback || operatorKey != nil || !providers.list.isEmpty || hasAccounts
      || cache.withLock { $0.hasKeyBeenCreated != false }
  }

  // MARK: Credentials

  /// Returns the credential that a digest is that of, and its scopes; nil if it is not a valid API key.
  func key(_ digest: SHA256Digest) -> (credential: Caller.Credential, scopes: Set<Scope>)? {
    if let operatorKey, HMAC.areEqual(digest, operatorKey) { return (.operatorKey, Set(Scope.allCases)) }
    guard let key = cache.withLock({ $0.keys[digest] }) else { return nil }
    return (.key(key.id), key.scopes)
  }

  /// Returns the credential that minted a token or a ticket, and its scopes; nil if it is no longer valid.
  func credential(of minter: UserToken.Minter) -> (credential: Caller.Credential, scopes: Set<Scope>)? {
    switch minter {
    case .key(let id):
      cache.withLock { cache in cache.digests["\(id)"].flatMap { cache.keys[$0] } }.map { (.key(id), $0.scopes) }
    case .operatorKey: operatorKey == nil ? nil : (.operatorKey, Set(Scope.allCases))
    case .anybody: needsKey ? nil : (.none, Set(Scope.allCases))
    // Its client has a user token, which is asked for itself.
    case .account: nil
    }
  }

  /// Throws a problem unless the client has an API key that may mint tokens, by which it may act as any user anyway.
  ///
  /// - Parameters:
  ///   - purpose: what needs the key, as the subject of a sentence.
  ///   - mayActAsUser: whether the key may act as a user meanwhile.
  package func requireTokens(of caller: Caller, for purpose: String, mayActAsUser: Bool = false) throws(Problem) {
    guard caller.token == nil, caller.user == nil || mayActAsUser,
      credential(of: caller.minter)?.scopes.contains(.tokens) == true
    else {
      throw ProblemKind.forbidden.problem("\(purpose) needs an API key with the scope tokens.")
    }
  }

  /// The label of a valid API key.
  func name(ofKey id: Int64) -> String? {
    cache.withLock { cache in cache.digests["\(id)"].flatMap { cache.keys[$0]?.name } }
  }

  private func isSuspended(_ user: String?) -> Bool {
    user.map { user in cache.withLock { $0.suspended.contains(UserKey(user)) } } ?? false
  }

  /// Throws a problem if a user is suspended.
  package func checkSuspension(of user: String?) throws(Problem) {
    if let user, isSuspended(user) { throw Self.userSuspended(user) }
  }

  static func userSuspended(_ user: String) -> Problem {
    ProblemKind.userSuspended.problem("The user '\(user)' is suspended.")
  }

  /// Whether the credential of an admitted client is still valid. Of a user token only the minter is known here.
  func isValid(_ caller: Caller) -> Bool {
    guard !isSuspended(caller.user), caller.cookie.map(isValid(cookie:)) ?? true else { return false }
    return switch caller.credential {
    case .token(let token): isMinterValid(token)
    case .none, .operatorKey, .key: credential(of: caller.minter) != nil
    case .provider(let token): providers.isValid(token, now: now())
    case .signature, .stranger: false
    }
  }

  /// Whether what minted a token is still valid.
  ///
  /// The database leaves out tokens of revoked keys; this one also knows the credentials that it does not store, and makes
  /// a token that is in the cache end with its key.
  func isMinterValid(_ token: UserToken) -> Bool { isValid(token.minter) }

  /// The minters that the database does not store, and whose tokens are not valid.
  var invalidMinters: Set<String> {
    Set([UserToken.Minter.operatorKey, .anybody, .account].filter { !isValid($0) }.map(\.name))
  }

  private func isValid(_ minter: UserToken.Minter) -> Bool {
    switch minter {
    case .key(let id): cache.withLock { !$0.revoked.contains(id) }
    case .operatorKey: operatorKey != nil
    case .anybody: !needsKey
    // The query knows whether the account is disabled.
    case .account: hasAccounts
    }
  }

  // MARK: Media

  private static let anybody = MediaURLs.Reader(name: "anybody", keyHash: "")

  /// Returns the signer of media URLs in the response to a request.
  package func mediaURLs(for request: Request) -> MediaURLs { urls(for: reader(request.caller)) }

  /// Returns the seconds for which the signed URL of an admitted request stays valid; nil if it has no signature.
  ///
  /// The admission has verified the signature.
  package func secondsLeft(of target: RequestTarget) -> Int? {
    guard target.queryValue("signature") != nil, let expires = target.queryValue("expires").flatMap({ Int($0) }) else {
      return nil
    }
    return max(0, expires - now())
  }

  /// The keys that media URLs and the cookies of the console are verified with; the first one signs.
  var signingKeys: [SigningKey] { cache.withLock(\.signing) }

  /// What precedes the paths of the service in the URLs that clients receive.
  package var urlPrefix: String { publicURL?.prefix ?? "" }

  func urls(for reader: MediaURLs.Reader) -> MediaURLs {
    MediaURLs(keys: signingKeys, reader: reader, now: now(), prefix: urlPrefix)
  }

  private func reader(_ caller: Caller) -> MediaURLs.Reader {
    if let token = caller.token { return .tokens(of: token.user) }
    if case .provider(let token) = caller.credential, let reader = providers.reader(token) { return reader }
    var reader = caller.isAuthenticated ? self.reader(caller.tenant) ?? Self.anybody : Self.anybody
    reader.user = caller.user
    return reader
  }

  /// The reader of the URLs that earlier versions issued for a token.
  static func reader(_ token: UserToken) -> MediaURLs.Reader {
    MediaURLs.Reader(name: token.id.description, keyHash: SHA256Digest(bytes: token.hash)?.hex ?? "")
  }

  /// Returns the reader of a name that is not that of a user token; nil if its key is not valid.
  func reader(_ name: String) -> MediaURLs.Reader? {
    if name == Self.anybody.name { return needsKey ? nil : Self.anybody }
    if name == Caller.operatorName { return operatorKey.map { MediaURLs.Reader(name: name, keyHash: $0.hex) } }
    return cache.withLock { $0.digests[name] }.map { MediaURLs.Reader(name: name, keyHash: $0.hex) }
  }
}
