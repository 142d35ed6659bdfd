internal import Crypto
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Store
internal import Telemetry

/// The routes of accounts, for apps without a back-end: their users sign in with a password. A service without
/// `--accounts on` has the paths, and nothing behind them.
struct AccountRoutes: RouteRoom {
  let kit: Kit
  let passwords: PasswordWork?
  /// What decides on each registration; nil: everybody may register.
  let check: RegistrationCheck?

  var routes: [Route] {
    let limit = JSONBody.limit
    return [
      route("POST", "/v1/accounts", access: .anyone, bodyLimit: limit, handler: register),
      route("POST", "/v1/sessions", access: .anyone, bodyLimit: Self.maxSessionBytes, handler: signIn),
      route("POST", "/v1/sessions/refresh", access: .anyone, bodyLimit: Self.maxSessionBytes, handler: renew),
      route("PUT", "/v1/accounts/current/password", access: .userToken, bodyLimit: limit, handler: changePassword),
      route("PUT", "/v1/users/{id}/password", access: .key([.tokens]), bodyLimit: limit, handler: resetPassword),
    ]
  }

  /// The maximum length of a body that signs in, in bytes. One that registers has a profile, and is counted before it is read.
  private static let maxSessionBytes: Int64 = 4 << 10

  private func enabledPasswords() throws(Problem) -> PasswordWork { try PasswordWork.enabled(passwords) }

  private func register(_ request: Request) async throws -> Response {
    let passwords = try enabledPasswords()
    try access.limits.countRegistration(from: request.client)
    let draft = try RegistrationDraft(
      fields: try await JSONBody.fields(of: request), defined: definitions.fields.users)
    guard !Profile.isReserved(userName: draft.userName) else { throw Self.userNameTaken(draft.userName) }
    // Before the work: a name that is taken costs no hash.
    guard try await database.read({ try Accounts.find(named: draft.userName, $0) }) == nil else {
      throw Self.userNameTaken(draft.userName)
    }
    // What the operator's program accepts may be used up by it: it decides last.
    if check != nil { try await passwords.check(draft.password, for: request.client) }
    try await check?.require(draft.userName, draft.profile.email, draft.evidence, by: request)
    let hash = try await passwords.hash(draft.password, for: request.client)
    let response: Response
    do {
      response = try await database.transaction { session in
        let user = try Accounts.register(draft.profile, password: hash, session)
        let signedIn = try Accounts.find(of: user, session).flatMap { try Self.signIn($0, draft.session, session) }
        guard let signedIn else { throw Self.signInFailed }
        return signedIn
      }
    } catch is UserNameTaken {
      throw Self.userNameTaken(draft.userName)
    }
    access.limits.recordSignIn(as: draft.userName, from: request.client)
    return response
  }

  private func signIn(_ request: Request) async throws -> Response {
    let passwords = try enabledPasswords()
    let attempt = try access.limits.beginSignIn(from: request.client)
    let draft = try SignInDraft(fields: try await JSONBody.fields(of: request))
    try access.limits.count(attempt, as: draft.name.counted)
    // A name that no user can have takes as long as one that no user has.
    let account = try await database.read { try Accounts.find(draft.name, $0) }
    let isRight = try await passwords.isRight(
      draft.password, account.map { PasswordHash(text: $0.passwordHash) }, for: request.client)
    guard let account, isRight else { throw Self.signInFailed }
    guard account.disabledAt == nil else { throw Self.accountDisabled }
    try access.checkSuspension(of: account.user)
    let response = try await database.transaction { session in
      let response = try Self.signIn(account, draft.session, session)
      if response != nil {
        let device = draft.session.device.map { ["device": $0] } ?? [:]
        try Accounts.alert(.sessionStarted, of: account.user, details: device, session)
      }
      return response
    }
    // The account was changed since it was read.
    guard let response else { throw Self.signInFailed }
    draft.name.counted.map { access.limits.recordSignIn(as: $0, from: request.client) }
    return response
  }

  /// Begins a session of an account whose password was verified; nil if the account has changed.
  private static func signIn(_ account: Account, _ draft: SessionDraft, _ session: Session) throws -> Response? {
    let text = Kit.newSecret(UserToken.prefix)
    guard draft.isRenewable else {
      let hash = SHA256.digest(of: Array(text.utf8))
      return try Accounts.signIn(account, hash: hash, lifetime: draft.lifetime, device: draft.device, session)
        .map { try TokenRoutes.minted($0, text) }
    }
    let refresh = RefreshToken()
    return try Accounts.signIn(
      account, hash: refresh.sessionHash, lifetime: RefreshChain.idleLifetime, device: draft.device, session
    ).map { token in
      try TokenRoutes.minted(
        try RenewableSession.begin(token, refresh, access: text, seconds: draft.lifetime, session))
    }
  }

  private func renew(_ request: Request) async throws -> Response {
    _ = try enabledPasswords()
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let text = reader.required("refresh_token", limit: RefreshToken.length)
    try reader.check()
    guard let token = RefreshToken(text),
      let renewal = try await database.transaction({ try RenewableSession.renew(by: token, $0) })
    else { throw Self.sessionEnded }
    switch renewal {
    case .tokens(let tokens): return try TokenRoutes.minted(tokens)
    case .ended(let token):
      access.tokens.forget([token.id])
      log.warning("a refresh token was used twice, and its session was ended", ["user": token.user])
      throw Self.sessionEnded
    }
  }

  private static var sessionEnded: Problem {
    ProblemKind.sessionEnded.problem(
      "The refresh token is none of a session, or was used before, or its session has ended.",
      headers: ["WWW-Authenticate": #"Bearer realm="take5""#])
  }

  private func changePassword(_ request: Request) async throws -> Response {
    let passwords = try enabledPasswords()
    guard let token = request.caller.token, token.grant == nil else {
      throw ProblemKind.notGranted.problem("The token permits one submission and nothing else.")
    }
    let draft = try PasswordDraft(fields: try await JSONBody.fields(of: request), needsFormer: true)
    let user = token.user
    guard let account = try await database.read({ try Accounts.find(of: user, $0) }) else {
      throw Self.accountNotFound(user)
    }
    try access.limits.countPasswordChange(by: "\(token.id)")
    let former = PasswordHash(text: account.passwordHash)
    guard try await passwords.isRight(draft.former ?? "", former, for: request.client) else { throw Self.wrongPassword }
    let hash = try await passwords.hash(draft.password, for: request.client)
    let revoked = try await database.transaction { session in
      try Accounts.setPassword(of: user, hash, replacing: account.passwordHash, keeping: token.id, session)
    }
    // Another request has changed it.
    guard let revoked else { throw Self.wrongPassword }
    access.tokens.forget(Set(revoked))
    return Response(.noContent)
  }

  private func resetPassword(_ request: Request) async throws -> Response {
    let passwords = try enabledPasswords()
    let user = try name(request)
    let draft = try PasswordDraft(fields: try await JSONBody.fields(of: request), needsFormer: false)
    let hash = try await passwords.hash(draft.password, for: request.client)
    let revoked = try await database.transaction { try Accounts.setPassword(of: user, hash, $0) }
    guard let revoked else { throw Self.accountNotFound(user) }
    access.tokens.forget(Set(revoked))
    return Response(.noContent)
  }

  // One response for a name that does not exist and for a wrong password.
  private static var signInFailed: Problem {
    ProblemKind.signInFailed.problem(
      "The user name or the password is wrong.", headers: ["WWW-Authenticate": #"Bearer realm="take5""#])
  }

  // Only who knows the password gets it.
  private static var accountDisabled: Problem { ProblemKind.accountDisabled.problem("The account is disabled.") }

  static var wrongPassword: Problem { ProblemKind.wrongPassword.problem("The former password is wrong.") }

  static func accountNotFound(_ user: String) -> Problem {
    ProblemKind.accountNotFound.problem("The user '\(user)' has no account.")
  }

  private static func userNameTaken(_ name: String) -> Problem {
    ProblemKind.userNameTaken.problem("The user name '\(name)' is taken or reserved.")
  }
}
