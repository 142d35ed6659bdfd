internal import Crypto
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Store

/// The check of changes of profiles: the e-mail address of an account is what another password is sent to.
struct AddressCheck: KitHolder {
  let kit: Kit
  /// Nil: the service has no accounts.
  let passwords: PasswordWork?

  /// Permits a change of a profile, or throws a problem; returns what of it is made.
  @Sendable func permit(_ update: ProfileUpdate, _ request: Request) async throws -> ProfileChange {
    var change = update.change
    guard let passwords, let account = try await database.read({ try Accounts.find(of: update.user, $0) }) else {
      return change
    }
    if request.caller.isUser, !update.namesEmail { change.email = .keep }
    try await requirePermission(toReaddress: account, change, update.password, request, passwords)
    return change
  }

  /// Throws unless the client may change the e-mail address of an account: who reads the mail of an address gets another password. A user
  /// must know the password, so that a token alone is not worth that; a back-end must be one that may act as any user.
  private func requirePermission(
    toReaddress account: Account, _ change: ProfileChange, _ given: JSONValue, _ request: Request,
    _ passwords: PasswordWork
  ) async throws {
    guard case .set(let email) = change.email else { return }
    let former = try await database.read { try People.find(account.user, for: .unrestricted, $0)?.profile.email }
    // By bytes: canonically equivalent addresses may have two mailboxes.
    let folded = [former, email].map { $0.map { Array(Profile.folded(userName: $0).utf8) } }
    guard folded[0] != folded[1] else { return }
    guard request.caller.isUser else {
      if email != nil {
        try access.requireTokens(
          of: request.caller, for: "Another e-mail address of a user with an account", mayActAsUser: true)
      }
      return
    }
    guard case .string(let password) = given else {
      throw ProblemKind.invalid([FieldError("former_password", "is required with another e-mail address")])
    }
    try access.limits.countPasswordChange(by: request.caller.token.map { "\($0.id)" } ?? "of \(account.user)")
    guard try await passwords.isRight(password, PasswordHash(text: account.passwordHash), for: request.client) else {
      throw AccountRoutes.wrongPassword
    }
  }
}
