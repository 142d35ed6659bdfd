import CRoomsSQL
package import Crypto
import FoundationEssentials
internal import Kit
package import Model
package import Platform
package import Postgres
package import Queue
import Store

/// Accounts: users who sign in with a password.
package enum Accounts: Room {
  package static let statements = Statements(topic: "accounts", RoomsSQL.Accounts)

  package static let schema: [EmbeddedText] = [RoomsSQL.Accounts_schema]

  package static let migrations = [
    Migration(version: 154, name: "one_time_codes", RoomsSQL.v0154_one_time_codes),
    Migration(version: 155, name: "accounts", RoomsSQL.v0155_accounts),
    Migration(version: 168, name: "code_attempts", RoomsSQL.v0168_code_attempts),
    Migration(version: 171, name: "mail_limits", RoomsSQL.v0171_mail_limits),
    Migration(version: 173, name: "used_access_tokens", RoomsSQL.v0173_used_access_tokens),
  ]

  package static var settingAside: [SetAside.Table] { [.codeRequest] }

  package static var maintenance: [MaintenanceTask] {
    [
      MaintenanceTask("codes", every: .seconds(300)) { pool in _ = try await pool.transaction(OneTimeCode.dropExpired)
      },
      MaintenanceTask("code requests", on: OneTimeCode.requestChannel) { pool in
        while try await pool.transaction(OneTimeCode.makeRequested) { try Task.checkCancellation() }
        return nil
      },
    ]
  }

  /// Creates a user with an account, and returns the user's id, which is new, so that no author's things come with it.
  ///
  /// - Throws: `UserNameTaken`. The caller must roll back.
  package static func register(_ profile: Profile, password: PasswordHash, _ session: Session) throws -> String {
    let user = PublicID.now().description
    try People.save(ProfileChange(profile), of: user, for: .unrestricted, session)
    try session.execute(Self.statements["insert_account"], .text(user), .text(password.text))
    return user
  }

  /// Reads the account of a user name, in any case; nil if there is none.
  package static func find(named name: String, _ session: Session) throws -> Account? {
    try session.execute(Self.statements["account_named"], .text(name)).first.map(Account.init)
  }

  /// Reads the account of a name that a client has sent; nil if there is none.
  static func find(_ name: AccountName, _ session: Session) throws -> Account? {
    switch name {
    // A name that no user can have is not looked up.
    case .userName(let text): Profile.isUserName(text) ? try find(named: text, session) : nil
    case .email(let address):
      try session.execute(Self.statements["account_with_email"], .text(address)).first.map(Account.init)
    }
  }

  /// Reads the account of a user; nil if there is none.
  package static func find(of user: String, _ session: Session) throws -> Account? {
    try session.execute(Self.statements["account_of_user"], .text(user)).first.map(Account.init)
  }

  /// Reads the newest accounts.
  package static func list(limit: Int, _ session: Session) throws -> [Account] {
    try session.execute(Self.statements["accounts"], .integer(limit)).map(Account.init)
  }

  /// Inserts a token of an account whose password was verified; nil if the account was disabled or got another password
  /// in the meantime.
  ///
  /// - Parameters:
  ///   - hash: of the token.
  ///   - lifetime: in seconds.
  ///   - device: what the user calls the device that signs in.
  package static func signIn(
    _ account: Account, hash: SHA256Digest, lifetime: Int, device: String? = nil, _ session: Session
  ) throws -> UserToken? {
    let held = try session.execute(
      Self.statements["hold_account"], .text(account.user), .text(account.passwordHash))
    guard !held.isEmpty else { return nil }
    return try Tokens.insert(
      of: account.user, hash: hash, minter: .account, grant: nil, lifetime: lifetime, device: device, session)
  }

  /// Sets the password of a user and revokes the user's tokens, so that who has found out the former password is out.
  ///
  /// - Parameters:
  ///   - former: the hash that the account must have; nil: any.
  ///   - kept: a token that stays valid.
  /// - Returns: the ids of the revoked tokens; nil if the user has no account with this hash.
  package static func setPassword(
    of user: String, _ password: PasswordHash, replacing former: String? = nil, keeping kept: PublicID? = nil,
    _ session: Session
  ) throws -> [PublicID]? {
    let changed = try session.execute(
      Self.statements["set_password"], .text(user), .text(password.text), .text(former))
    guard !changed.isEmpty else { return nil }
    try alert(.passwordChanged, of: user, session)
    return try Tokens.revokeAll(of: user, except: kept, in: .all, session)
  }

  /// Reports to the back-end what has happened to an account, with the address at which the user may learn of it, if that is verified.
  ///
  /// - Parameters:
  ///   - email: the address that the user had before; nil: the present one.
  ///   - details: what else the mail may say.
  static func alert(
    _ kind: UserEvent.Kind, of user: String, at email: String? = nil, details: [String: String] = [:],
    _ session: Session
  ) throws {
    guard let row = try session.execute(statements["address_of_account"], .text(user)).first else { return }
    guard let email = try email ?? row.get("email") else { return }
    let data = ["email": email, "user_name": try row.get("user_name") ?? ""].merging(details) { known, _ in known }
    try Store.notify(user, of: kind, by: nil, data: try JSON.encode(data), session)
  }

  /// Disables or enables the account of a user. A disabled one has no valid token, and gets none of them back.
  ///
  /// - Returns: the ids of the revoked tokens; nil if the user has no account.
  package static func setDisabled(_ isDisabled: Bool, of user: String, _ session: Session) throws -> [PublicID]? {
    let changed = try session.execute(
      Self.statements["set_disabled"], .text(user), .bool(isDisabled))
    guard !changed.isEmpty else { return nil }
    return isDisabled ? try Tokens.revokeAll(of: user, in: .all, session) : []
  }
}

extension Account {
  fileprivate init(_ row: Row) throws {
    self.init(
      user: try row.get("user_id"), userName: try row.get("user_name"), passwordHash: try row.get("password_hash"),
      createdAt: Date(microseconds: try row.get("created_at")),
      disabledAt: try row.get("disabled_at", as: Int64?.self).map(Date.init(microseconds:)))
  }
}

extension Accounts: ProfileObserver {
  static func requiresUserName(_ user: String, _ session: Session) throws -> Bool {
    try find(of: user, session) != nil
  }

  /// Reports another address of an account to the former one.
  static func changedEmail(of user: String, from former: String, to email: String?, _ session: Session) throws {
    let details = email.map { ["new_email": $0] } ?? [:]
    try alert(.emailChanged, of: user, at: former, details: details, session)
  }
}
