import Crypto
import FoundationEssentials
import HTTPServer
import Model
import Postgres
import Queue
import Store

/// Codes by which a user shows to read the mail of an address. The app's back-end sends them: it receives each by a webhook.
enum OneTimeCode {
  /// Digits and letters that are not taken for each other (RFC 4648 has O and I): 40 random bits.
  private static let alphabet = Array("0123456789ABCDEFGHJKMNPQRSTVWXYZ")
  private static let length = 8
  /// In seconds.
  static let lifetime = 900
  /// The time between two codes of a user, in seconds.
  private static let pause = 300

  static func random(by generator: inout some RandomNumberGenerator) -> String {
    String((0..<length).compactMap { _ in alphabet.randomElement(using: &generator) })
  }

  /// Creates a code and the event that carries it, unless the user got one within the last five minutes, which still counts.
  ///
  /// - Returns: false if the user has no e-mail address.
  static func send(_ kind: UserEvent.Kind, to account: Account, _ session: Session) throws -> Bool {
    guard
      let email = try session.execute(Accounts.statements["email_of_account"], .text(account.user))
        .first?.get("email", as: String?.self)
    else { return false }
    var generator = SystemRandomNumberGenerator()
    let code = random(by: &generator)
    let saved = try session.execute(
      Accounts.statements["save_code"], .text(account.user), .text(kind.rawValue),
      .bytes(SHA256.digest(of: Array(code.utf8)).bytes), .text(email), .double(Double(pause)))
    if saved.affected > 0 {
      try Store.notify(
        account.user, of: kind, by: nil,
        data: try JSON.encode([
          "code": code, "email": email, "user_name": account.userName ?? "", "expires_in": "\(lifetime)",
        ]), session)
    }
    return true
  }

  /// Deletes codes that have expired, also from the events that carried them; returns their number.
  static func dropExpired(_ session: Session) throws -> Int {
    try session.execute(Accounts.statements["blank_events_with_codes"], .double(Double(lifetime)))
    return try session.execute(Accounts.statements["drop_expired_codes"], .double(Double(lifetime))).affected
  }
}

/// The requests for codes.
struct CodeRoutes: RouteRoom {
  let kit: Kit
  let hasAccounts: Bool

  var routes: [Route] {
    [
      route(
        "POST", "/v1/accounts/current/verification", access: .userToken, bodyLimit: JSONBody.limit,
        handler: requestVerification),
      route("POST", "/v1/password-resets", access: .anyone, bodyLimit: JSONBody.limit, handler: requestReset),
    ]
  }

  private func requestVerification(_ request: Request) async throws -> Response {
    try requireAccounts()
    guard let token = request.caller.token, token.grant == nil else {
      throw ProblemKind.notGranted.problem("The token permits one submission and nothing else.")
    }
    try access.limits.countPasswordChange(by: token.id)
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

  /// The response does not show whether there is such a user.
  private func requestReset(_ request: Request) async throws -> Response {
    try requireAccounts()
    try access.limits.countRegistration(from: request.client)
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let name = reader.required("user_name", limit: Profile.maxUserName)
    try reader.check()
    try await database.transaction { session in
      guard Profile.isUserName(name), let account = try Accounts.find(named: name, session), account.disabledAt == nil
      else { return }
      _ = try OneTimeCode.send(.passwordResetRequested, to: account, session)
    }
    return Response(.accepted)
  }

  private func requireAccounts() throws(Problem) {
    guard hasAccounts else { throw AccountRoutes.off }
  }
}
