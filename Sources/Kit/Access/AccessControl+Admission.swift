internal import Crypto
package import HTTPServer
internal import Model
internal import Platform
internal import Store

/// Admits requests by API keys, user tokens and tokens of identity providers (RFC 6750, section 2.1), the cookie of the
/// console and signed media URLs, and limits their rate.
extension AccessControl {
  package func admission(to access: RouteAccess) -> Route.Admission {
    { (head, client) throws(Problem) in try self.admit(head, from: client, to: access) }
  }

  /// Authorizes a request by its head; throws a problem if it is not allowed or exceeds its rate limit. Only a user token
  /// that is not in the cache makes the request wait for the database.
  ///
  /// - Returns: a `Caller`.
  func admit(_ head: RequestHead, from client: IPAddress, to access: RouteAccess) throws(Problem) -> Admitted {
    switch access {
    case .unlimited: return .known(Caller.anonymous)
    case .anyone:
      try limits.countRequest(of: client)
      return .known(Caller.anonymous)
    case .media where head.target.queryValue("signature") != nil: return try admitSigned(head, from: client)
    case .keyOrTicket where head.target.queryValue("ticket") != nil:
      return try admitTicket(head, from: client, to: access)
    case .key, .upload, .userToken, .media, .keyOrTicket, .keyOrLink:
      return try admitBearer(head, from: client, to: access)
    }
  }

  private func admitBearer(
    _ head: RequestHead, from client: IPAddress, to access: RouteAccess
  ) throws(Problem) -> Admitted {
    let needsKey = needsKey
    if !needsKey { try checkOrigin(head, from: client) }
    if needsKey, head.isOfConsole, head.headers["Authorization"] == nil {
      return .known(try admitConsole(head, from: client, to: access))
    }
    let bearer = head.bearer
    let digest = bearer.map { SHA256.digest(of: Array($0.utf8)) }
    if needsKey, let digest, let (credential, scopes) = key(digest) {
      let caller = Caller(credential: credential, user: try head.actingUser())
      try limits.countRequest(ofKey: caller.tenant)
      try check(caller, scopes, access)
      return .known(caller)
    }
    if let digest, bearer?.utf8.starts(with: UserToken.prefix.utf8) == true {
      let name = UserTokenCache.Name.hash(digest)
      if let token = tokens.cached(name) { return .known(try admit(token, head, from: client, to: access)) }
      // The query counts for the address: a client that guesses tokens is limited like one without a key.
      try limits.countRequest(of: client)
      return .pending {
        guard let token = try await self.find(name) else { throw Self.unauthorized(Self.invalidBearer) }
        return try self.admit(token, head, from: client, to: access)
      }
    }
    if let digest, let bearer, !providers.list.isEmpty, IdentityToken.isLikely(bearer) {
      if let token = providers.cached(digest, now: now()) { return .known(try admit(token, head, to: access)) }
      // The verification counts for the address, as a query does.
      try limits.countRequest(of: client)
      return .pending { try self.admit(await self.providers.verify(bearer, digest, now: self.now()), head, to: access) }
    }
    try limits.countRequest(of: client)
    guard !needsKey else {
      if head.headers["Authorization"] == nil {
        switch access {
        case .media: return .known(Caller.stranger)
        case .keyOrLink where head.target.queryValue("link") != nil: return .known(Caller.stranger)
        default: break
        }
      }
      throw Self.unauthorized(bearer == nil ? "The request has no bearer token." : Self.invalidBearer)
    }
    let caller = Caller(credential: .none, user: try head.actingUser())
    try check(caller, Set(Scope.allCases), access)
    return .known(caller)
  }

  private static let invalidBearer = "The bearer token is neither a valid API key nor a valid user token."

  private func find(_ name: UserTokenCache.Name) async throws -> UserToken? {
    do {
      return try await tokens.token(name)
    } catch {
      throw OutageProblem.problem(for: error) ?? error
    }
  }

  private func admit(
    _ token: UserToken, _ head: RequestHead, from client: IPAddress, to access: RouteAccess
  ) throws(Problem) -> Caller {
    guard isMinterValid(token) else {
      try limits.countRequest(of: client)
      throw Self.unauthorized(Self.invalidBearer)
    }
    try limits.countRequest(ofToken: "\(token.id)")
    let caller = Caller(credential: .token(token), user: token.user)
    try check(caller, head, access)
    if let grant = token.grant { try Self.check(grant, of: token, head, access) }
    return caller
  }

  private func admit(_ token: IdentityToken, _ head: RequestHead, to access: RouteAccess) throws(Problem) -> Caller {
    try limits.countRequest(ofToken: "of \(token.user)")
    let caller = Caller(credential: .provider(token), user: token.user)
    try check(caller, head, access)
    return caller
  }

  /// Throws a problem unless a user may have the access, and is the one whom the request names, if it names one.
  private func check(_ caller: Caller, _ head: RequestHead, _ access: RouteAccess) throws(Problem) {
    if let user = try head.actingUser(), !caller.viewer.owns(user) {
      throw Caller.notYours("The token acts as another user than \(RequestHead.userField) names.")
    }
    try check(caller, Scope.ofUsers, access)
  }

  /// Throws a problem unless the scopes of the credential, and those that a user can have, permit the access.
  func check(_ caller: Caller, _ scopes: Set<Scope>, _ access: RouteAccess) throws(Problem) {
    try checkSuspension(of: caller.user)
    let needed: Set<Scope>
    switch access {
    case .unlimited, .anyone: needed = []
    case .userToken:
      guard caller.token != nil else { throw ProblemKind.forbidden.problem("The request needs a user token.") }
      needed = []
    case .key(let scopes), .upload(let scopes), .media(let scopes), .keyOrLink(let scopes): needed = scopes
    // A client that acts as no user reads what concerns all of them.
    case .keyOrTicket(let scopes, let ofAll): needed = caller.user == nil ? scopes.union(ofAll) : scopes
    }
    func list(_ scopes: Set<Scope>) -> String { scopes.map(\.rawValue).sorted().joined(separator: " and ") }
    if caller.user != nil, !needed.isSubset(of: Scope.ofUsers) {
      throw ProblemKind.forbidden.problem("The request needs the scope \(list(needed)), which no user has.")
    }
    let missing = needed.subtracting(scopes)
    guard missing.isEmpty else {
      throw ProblemKind.forbidden.problem("The request needs an API key with the scope \(list(missing)).")
    }
  }

  /// Throws a problem unless a request with an upload grant is a submission with a body that the grant permits.
  private static func check(
    _ grant: UploadGrant, of token: UserToken, _ head: RequestHead, _ access: RouteAccess
  ) throws(Problem) {
    switch access {
    case .userToken: return
    case .upload: break
    case .unlimited, .anyone, .key, .media, .keyOrTicket, .keyOrLink:
      throw ProblemKind.notGranted.problem("The token permits one submission and nothing else.")
    }
    guard let length = head.contentLength, length <= grant.bytes else {
      throw ProblemKind.notGranted.problem(
        "The token permits a body with a Content-Length of at most \(grant.bytes) bytes.")
    }
    // With a key the request may repeat the submission that has used the grant.
    guard token.usedAt == nil || head.headers["Idempotency-Key"] != nil else { throw grantUsed }
  }

  package static var grantUsed: Problem {
    ProblemKind.notGranted.problem("Another submission has used the upload grant of the token.")
  }

  /// Admits the client that got a ticket, with the credential that it had. The ticket is used, whatever follows.
  private func admitTicket(
    _ head: RequestHead, from client: IPAddress, to access: RouteAccess
  ) throws(Problem) -> Admitted {
    if !needsKey { try checkOrigin(head, from: client) }
    try limits.countRequest(of: client)
    let digest = SHA256.digest(of: Array((head.target.queryValue("ticket") ?? "").utf8))
    return .pending {
      do {
        guard let ticket = try await self.tokens.takeTicket(digest),
          let (caller, scopes) = try await self.caller(of: ticket)
        else {
          throw ProblemKind.ticketInvalid.problem("The ticket is unknown, was used or has expired.")
        }
        try self.check(caller, scopes, access)
        return caller
      } catch {
        throw OutageProblem.problem(for: error) ?? error
      }
    }
  }

  /// Returns the client that got a ticket, with its scopes; nil if its credential is no longer valid.
  private func caller(of ticket: EventTicket) async throws -> (Caller, Set<Scope>)? {
    if let id = ticket.token {
      guard let token = try await tokens.token(.id(id)), isMinterValid(token) else { return nil }
      return (Caller(credential: .token(token), user: ticket.user), Scope.ofUsers)
    }
    if let identity = ticket.identity {
      let caller = Caller(credential: .provider(identity), user: ticket.user)
      return isValid(caller) ? (caller, Scope.ofUsers) : nil
    }
    return credential(of: ticket.minter).map { (Caller(credential: $0.credential, user: ticket.user), $0.scopes) }
  }

  private func admitSigned(_ head: RequestHead, from client: IPAddress) throws(Problem) -> Admitted {
    if !needsKey { try checkOrigin(head, from: client) }
    try limits.countRequest(of: client)
    let target = head.target
    if let name = target.queryValue("reader"),
      let reader = providers.reader(name, user: target.queryValue("user"))
    {
      return .known(try verified(target, reader, user: reader.user))
    }
    let (name, user) = (target.queryValue("reader"), target.queryValue("user"))
    if name == MediaURLs.Reader.userName, let user {
      // A signature that is not the service's own asks no database who the user is.
      if case .invalid = urls(for: .tokens(of: user)).verify(target) {
        return .known(try verified(target, nil, user: user))
      }
      return try admitSigned(target, by: .user(user, not: invalidMinters)) { .tokens(of: $0.user) }
    }
    if let id = name.flatMap({ PublicID($0) }) { return try admitSigned(target, by: .id(id), Self.reader) }
    var reader = name.flatMap { self.reader($0) }
    reader?.user = user
    return .known(try verified(target, reader, user: user))
  }

  /// Admits the reader of a URL that is valid as long as a user token is.
  private func admitSigned(
    _ target: RequestTarget, by name: UserTokenCache.Name, _ reader: @escaping @Sendable (UserToken) -> MediaURLs.Reader
  ) throws(Problem) -> Admitted {
    let verify = { @Sendable (token: UserToken?) throws(Problem) in
      try self.verified(target, token.flatMap { self.isMinterValid($0) ? reader($0) : nil }, user: token?.user)
    }
    if let token = tokens.cached(name), isMinterValid(token) { return .known(try verify(token)) }
    return .pending {
      var token = try await self.find(name)
      if let known = token, !self.isMinterValid(known) {
        // It was read before its key was revoked: the user may have another one.
        self.tokens.forget([known.id])
        token = try await self.find(name)
      }
      return try verify(token)
    }
  }

  private func verified(
    _ target: RequestTarget, _ reader: MediaURLs.Reader?, user: String?
  ) throws(Problem) -> Caller {
    switch reader.map({ urls(for: $0).verify(target) }) ?? .invalid {
    case .valid:
      try checkSuspension(of: user)
      return Caller(credential: .signature, user: user)
    case .expired: throw ProblemKind.urlExpired.problem("The time in the parameter expires has passed.")
    case .invalid: throw ProblemKind.urlInvalid.problem("The signature is invalid or was revoked.")
    }
  }

  /// Counts a submission of an author, and the text that it is about to store; throws a problem with status 429 if a limit is exceeded, and
  /// with status 503 if the database has no room.
  package func countSubmission(of author: String, _ request: Request) throws(Problem) {
    try limits.countSubmission(of: author, tenant: request.caller.tenant)
    try databaseSpace?.check()
    let address = request.caller.isUser ? request.client : nil
    try limits.countText(Self.text(of: request), of: author, tenant: request.caller.tenant, from: address)
  }

  /// The text that a request may store, in bytes, by its head. With an `Idempotency-Key` the response is stored as well.
  private static func text(of request: Request) -> Int64 {
    let length = request.head.contentLength ?? JSONBody.limit
    // A longer body has media, whose bytes other limits count. Ids in the path are stored as well, and a row is more than its text.
    let body = length > JSONBody.limit ? 4 << 10 : length
    let text = max(1 << 10, body + Int64(request.target.path.utf8.count))
    return request.headers["Idempotency-Key"] == nil ? text : 2 * text
  }

  package static func unauthorized(_ detail: String) -> Problem {
    ProblemKind.unauthorized.problem(detail, headers: ["WWW-Authenticate": #"Bearer realm="take5""#])
  }
}
