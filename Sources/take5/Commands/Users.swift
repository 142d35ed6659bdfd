import ControlAPI
import Crypto
import FoundationEssentials
import Model
import Postgres
import Store

extension Subcommand {
  static let usersList = Subcommand(
    "users list", abstract: "List the accounts of users, the newest first.",
    options: [Option("--limit", "N", .integer(1...1000), default: "100", help: "maximum number of accounts")]
      + Option.storeAccess,
    example: "take5 users list --limit 10"
  ) { arguments in
    let limit = try arguments.number("--limit") ?? 100
    let accounts = try await DatabaseAccess.use(arguments) { pool in
      let store = Store(blobs: ClosedBlobStore())
      return try await pool.run { session in try store.accounts(limit: limit, session) }
    }
    for account in accounts { try print(account, arguments) }
    if accounts.isEmpty, !arguments.has(Option.json.name) { try Console.print("no accounts") }
    return .success
  }

  static let usersShow = Subcommand(
    "users show", abstract: "Show the account of a user.", operands: ["NAME"], options: Option.storeAccess,
    example: "take5 users show ada"
  ) { arguments in
    try print(try await change(arguments) { _, account, _ in account }, arguments)
    return .success
  }

  static let usersResetPassword = Subcommand(
    "users reset-password",
    abstract: "Give the account of a user a new password, which is printed once, and revoke the user's tokens.",
    operands: ["NAME"], options: Option.storeAccess, example: "take5 users reset-password ada"
  ) { arguments in
    let password = newPassword()
    let hash = PasswordHash(of: password)
    _ = try await change(arguments) { store, account, session in
      guard try store.setPassword(of: account.user, hash, session) != nil else { return nil }
      // Printed before the commit: if standard output fails, the password is not changed.
      try Console.print(
        arguments.has(Option.json.name)
          ? try JSON.text(NewPassword(user: account.user, password: password))
          : "new password of \(account.userName ?? account.user): \(password)\nThe password is not shown again.")
      return account
    }
    return .success
  }

  static let usersDisable = Subcommand(
    "users disable", abstract: "Disable the account of a user, and revoke the user's tokens.", operands: ["NAME"],
    options: Option.storeAccess, example: "take5 users disable ada"
  ) { arguments in try await setDisabled(true, arguments) }

  static let usersEnable = Subcommand(
    "users enable", abstract: "Enable the account of a user, who can sign in again.", operands: ["NAME"],
    options: Option.storeAccess, example: "take5 users enable ada"
  ) { arguments in try await setDisabled(false, arguments) }

  private static func setDisabled(_ isDisabled: Bool, _ arguments: Arguments) async throws -> ExitStatus {
    let account = try await change(arguments) { store, account, session in
      guard try store.setDisabled(isDisabled, of: account.user, session) != nil else { return nil }
      return try store.account(of: account.user, session)
    }
    try print(account, arguments)
    return .success
  }

  /// Reads the account that the operand names, and changes it in the same transaction; status 66 if it does not exist.
  private static func change(
    _ arguments: Arguments, _ body: @escaping @Sendable (Store, Account, Session) throws -> Account?
  ) async throws -> Account {
    let name = arguments.operands[0]
    let account = try await DatabaseAccess.use(arguments) { pool in
      let store = Store(blobs: ClosedBlobStore())
      return try await pool.transaction { session in
        try store.account(named: name, session).flatMap { try body(store, $0, session) }
      }
    }
    guard let account else {
      throw CommandFailure(
        .inputMissing, "no account has the user name '\(name)'", remedy: "'take5 users list' lists the accounts")
    }
    return account
  }

  private static func print(_ account: Account, _ arguments: Arguments) throws {
    let report = AccountReport(account)
    try Console.print(arguments.has(Option.json.name) ? try JSON.text(report) : report.line)
  }

  /// A password of 79 random bits, in groups that a person can read out.
  private static func newPassword() -> String {
    var random = SystemRandomNumberGenerator()
    let letters = Array("abcdefghjkmnpqrstuvwxyz23456789")
    let groups = (0..<4).map { _ in
      String((0..<4).map { _ in letters[Int(random.next(upperBound: UInt32(letters.count)))] })
    }
    return groups.joined(separator: "-")
  }
}

/// A new password, the only output that contains it.
private struct NewPassword: Encodable {
  let user: String
  let password: String
}

/// An account in `take5 users list`.
private struct AccountReport: Encodable {
  let user: String
  let userName: String?
  let createdAt: Date
  let disabledAt: Date?

  init(_ account: Account) {
    (user, userName) = (account.user, account.userName)
    (createdAt, disabledAt) = (account.createdAt, account.disabledAt)
  }

  /// The account as one line of text.
  var line: String {
    let state = disabledAt.map { "disabled \(JSON.text(of: $0))" } ?? "active"
    return "\(user)  \(userName ?? "-")  created \(JSON.text(of: createdAt))  \(state)"
  }
}
