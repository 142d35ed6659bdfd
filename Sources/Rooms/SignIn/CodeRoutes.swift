internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Store

/// The requests for codes, and those with them.
struct CodeRoutes: RouteRoom {
  let kit: Kit
  let passwords: PasswordWork?

  var routes: [Route] {
    [
      route(
        "POST", "/v1/accounts/current/verification", access: .userToken, bodyLimit: JSONBody.limit,
        handler: requestVerification),
      route(
        "PUT", "/v1/accounts/current/verification", access: .userToken, bodyLimit: JSONBody.limit, handler: verify),
      route("POST", "/v1/password-resets", access: .anyone, bodyLimit: JSONBody.limit, handler: requestReset),
      route("PUT", "/v1/password-resets", access: .anyone, bodyLimit: JSONBody.limit, handler: reset),
    ]
  }

  private func requestVerification(_ request: Request) async throws -> Response {
    let token = try token(request)
    let isSent = try await database.transaction { session in
      guard let account = try Accounts.find(of: token.user, session) else {
        throw AccountRoutes.accountNotFound(token.user)
      }
      return try OneTimeCode.send(.verificationRequested, to: account, session)
    }
    guard isSent else {
      throw ProblemKind.emailMissing.problem("The profile of the user '\(token.user)' has no e-mail address.")
    }
    return Response(.accepted)
  }

  private func verify(_ request: Request) async throws -> Response {
    let token = try token(request)
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let code = reader.required("code", limit: OneTimeCode.maxTyped)
    try reader.check()
    let isRight = try await database.transaction { session in
      guard try Accounts.find(of: token.user, session) != nil else { throw AccountRoutes.accountNotFound(token.user) }
      return try OneTimeCode.isRight(
        code, .verificationRequested, of: token.user, from: request.client, session)
    }
    guard isRight else { throw Self.codeInvalid }
    let isUsed = try await usingAddress {
      try OneTimeCode.use(code, .verificationRequested, of: token.user, needsAddress: true, $0)
    }
    guard isUsed else { throw Self.codeInvalid }
    return Response(.noContent)
  }

  /// Neither the response nor its time shows whether there is such a user.
  private func requestReset(_ request: Request) async throws -> Response {
    _ = try PasswordWork.enabled(passwords)
    try access.limits.countRegistration(from: request.client)
    let fields = try await JSONBody.fields(of: request)
    var reader = FieldReader(fields, path: "")
    let name = AccountName(fields, &reader)
    try reader.check()
    try await database.transaction { try OneTimeCode.request(by: name, $0) }
    return Response(.accepted)
  }

  /// Sets the password of who has the code. One response for an account that does not exist, and for a code that is not right.
  private func reset(_ request: Request) async throws -> Response {
    let passwords = try PasswordWork.enabled(passwords)
    let attempt = try access.limits.beginSignIn(from: request.client)
    let draft = try CodedPasswordDraft(fields: try await JSONBody.fields(of: request))
    try access.limits.count(attempt, withCodeOf: draft.name.counted)
    let user = try await database.transaction { session -> String? in
      let account = try Accounts.find(draft.name, session)
      let user = account?.disabledAt == nil ? account?.user : nil
      let isRight = try OneTimeCode.isRight(
        draft.code, .passwordResetRequested, of: user, from: request.client, session)
      return isRight ? user : nil
    }
    guard let user else { throw Self.codeInvalid }
    // The code is used with the change: a client that is refused meanwhile has it still.
    let hash = try await passwords.hash(draft.password, for: request.client)
    let revoked = try await usingAddress { session -> [PublicID]? in
      guard
        try OneTimeCode.use(draft.code, .passwordResetRequested, of: user, needsAddress: false, session)
      else { return nil }
      return try Accounts.setPassword(of: user, hash, session)
    }
    guard let revoked else { throw Self.codeInvalid }
    access.tokens.forget(Set(revoked))
    return Response(.noContent)
  }

  private func usingAddress<Value: Sendable>(_ body: @Sendable (Session) throws -> Value) async throws -> Value {
    do {
      return try await database.transaction(body)
    } catch is EmailTaken {
      throw ProblemKind.emailTaken.problem("Another user has verified this e-mail address.")
    }
  }

  /// The token of a request about an address, which counts as an attempt.
  private func token(_ request: Request) throws -> UserToken {
    _ = try PasswordWork.enabled(passwords)
    guard let token = request.caller.token, token.grant == nil else {
      throw ProblemKind.notGranted.problem("The token permits one submission and nothing else.")
    }
    try access.limits.countPasswordChange(by: "\(token.id)")
    return token
  }

  private static var codeInvalid: Problem {
    ProblemKind.codeInvalid.problem("The code is wrong, was used or has expired, or was tried too often.")
  }
}
