import Blobs
import Crypto
import FoundationEssentials
import Model
import Platform
import Postgres
import Queue
import Rooms
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
      return try await pool.run { session in try Accounts.list(limit: limit, session) }
    }
    for account in accounts { try print(account, arguments) }
    if accounts.isEmpty, !arguments.has(Option.json.name) { try Console.print("no accounts") }
    return .success
  }

  static let usersShow = Subcommand(
    "users show", abstract: "Show a user, with or without an account, by the id or the user name.", operands: ["USER"],
    options: Option.storeAccess, example: "take5 users show ada"
  ) { arguments in
    let report = try await DatabaseAccess.use(arguments) { pool in
      let store = Store(blobs: AwaitedBlobStore.closed, rooms: .all)
      return try await pool.transaction { session in try UserReport(arguments.operands[0], store, session) }
    }
    try Console.print(arguments.has(Option.json.name) ? try JSON.text(report) : report.text)
    return .success
  }

  static let usersRename = Subcommand(
    "users rename",
    abstract: "Give a user, named by the id or the user name, another user name, or the first one to sign in with.",
    operands: ["USER", "NAME"], options: Option.storeAccess,
    example: "take5 users rename 0199f0c2-8a1e-7c3d-9b5a-2f6d8e1c4a70 ada"
  ) { arguments in
    let (user, name) = (arguments.operands[0], arguments.operands[1])
    guard Profile.isUserName(name) else {
      throw CommandFailure(
        .usage, "'\(name)' is no user name",
        remedy: "pass 1 to \(Profile.maxUserName) ASCII letters, digits, dots, underscores and hyphens")
    }
    let report = try await DatabaseAccess.use(arguments) { pool in
      let store = Store(blobs: AwaitedBlobStore.closed, rooms: .all)
      return try await pool.transaction { session in
        guard let id = try People.findID(user, session) else { throw unknownUser(user) }
        do {
          try People.save(ProfileChange(userName: .set(name)), of: id, for: .unrestricted, session)
        } catch is UserNameTaken {
          throw CommandFailure(
            .rejected, "another user has the user name '\(name)'", remedy: "'take5 users show \(name)' shows who has it"
          )
        }
        return try UserReport(id, store, session)
      }
    }
    try Console.print(arguments.has(Option.json.name) ? try JSON.text(report) : report.text)
    return .success
  }

  static let usersDelete = Subcommand(
    "users delete", abstract: "Delete a user with everything that mentions the user, such as posts and comments.",
    operands: ["USER"], options: [Confirmation.option] + Option.storeAccess, example: "take5 users delete ada"
  ) { arguments in
    let deletion = try await DatabaseAccess.use(arguments) { pool in
      let store = Store(blobs: AwaitedBlobStore.closed, rooms: .all)
      let (user, belongings) = try await pool.transaction { session in
        let user = try UserReport(arguments.operands[0], store, session).user
        return (user, try Exporting.belongings(of: user, session))
      }
      try Confirmation.require(
        "user \(user) is deleted with \(belongings.text), and with all relations and reports; "
          + "nothing brings them back but a backup", arguments)
      let (job, tokens) = try await pool.transaction { session in
        let started = try Forgetting.start(user, request: nil, session) { _ in }
        try JobQueue.notify(queue: JobKinds.taskQueue, session)
        return started
      }
      return UserDeletion(user: user, job: job, tokens: tokens.count, deleted: belongings)
    }
    try Console.print(arguments.has(Option.json.name) ? try JSON.text(deletion) : deletion.text)
    return .success
  }

  static let usersExport = Subcommand(
    "users export", abstract: "Write everything of a user into a ZIP archive, as the user can export it.",
    operands: ["USER"],
    options: [
      Option("--output", "FILE", short: "-o", help: "file for the archive; - is standard output"), .force,
    ] + Option.storeAccess,
    example: "take5 users export ada -o ada.zip"
  ) { arguments in
    guard let path = arguments.value("--output") else {
      throw CommandFailure(.usage, "no output given", remedy: "name a file with -o FILE")
    }
    let name = arguments.operands[0]
    let result = try await StoreIntegrity.use(arguments) { integrity in
      let user = try await integrity.pool.run { session in try People.findID(name, session) }
      guard let user else { throw unknownUser(name) }
      let file = try OutputFile(path: path, replacing: arguments.has(Option.force.name), protecting: [])
      let content = file.file
      let executor = try ThreadExecutor(name: "export", threads: 1)
      defer { executor.stop() }
      // Compression and files block a thread.
      let missing = try await withTaskExecutorPreference(executor) {
        try await UserExport(
          user: user, reads: BlobReads(integrity.blobs), database: integrity.pool
        ) { bytes in
          try Task.checkCancellation()
          try content.descriptor.write(bytes)
        }.run()
      }
      let bytes = try content.descriptor.size()
      try file.commit()
      return ExportedUser(user: user, file: path, bytes: bytes, missing: missing)
    }
    try arguments.printResult(
      arguments.has(Option.json.name) ? try JSON.text(result) : result.text, writing: path)
    return .success
  }

  static let usersResetPassword = Subcommand(
    "users reset-password",
    abstract: "Give the account of a user a new password, which is printed once, and revoke the user's tokens.",
    operands: ["USER"], options: Option.storeAccess, example: "take5 users reset-password ada"
  ) { arguments in
    let password = newPassword()
    let hash = PasswordHash(of: password)
    _ = try await change(arguments) { store, account, session in
      guard try Accounts.setPassword(of: account.user, hash, session) != nil else { return nil }
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
    "users disable", abstract: "Disable the account of a user, and revoke the user's tokens.", operands: ["USER"],
    options: Option.storeAccess, example: "take5 users disable ada"
  ) { arguments in try await setDisabled(true, arguments) }

  static let usersEnable = Subcommand(
    "users enable", abstract: "Enable the account of a user, who can sign in again.", operands: ["USER"],
    options: Option.storeAccess, example: "take5 users enable ada"
  ) { arguments in try await setDisabled(false, arguments) }

  private static func setDisabled(_ isDisabled: Bool, _ arguments: Arguments) async throws -> ExitStatus {
    let account = try await change(arguments) { store, account, session in
      guard try Accounts.setDisabled(isDisabled, of: account.user, session) != nil else { return nil }
      return try Accounts.find(of: account.user, session)
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
      let store = Store(blobs: AwaitedBlobStore.closed, rooms: .all)
      return try await pool.transaction { session in
        let account = try Accounts.find(named: name, session) ?? Accounts.find(of: name, session)
        return try account.flatMap { try body(store, $0, session) }
      }
    }
    guard let account else {
      throw CommandFailure(
        .inputMissing, "no account has the user name or the id '\(name)'",
        remedy: "'take5 users list' lists the accounts")
    }
    return account
  }

  fileprivate static func unknownUser(_ name: String) -> CommandFailure {
    CommandFailure(
      .inputMissing, "no user has the id or the user name '\(name)'", remedy: "'take5 users list' lists the accounts")
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

/// A user, as `take5 users show` prints one.
private struct UserReport: Encodable {
  let user: String
  let userName: String?
  let name: String?
  /// The time since which there is the account or, without one, the user; nil: the user has neither a profile nor posts.
  let createdAt: Date?
  let disabledAt: Date?
  let hasAccount: Bool
  let posts: Int
  let friends: Int
  let isSuspended: Bool
  let isBeingDeleted: Bool

  /// Reads the user whose id or user name is given; status 66 if nothing of such a user is stored.
  init(_ text: String, _ store: Store, _ session: Session) throws {
    guard let id = try People.findID(text, session) else { throw Subcommand.unknownUser(text) }
    let stored = try People.find(id, for: .user(id), session)
    let account = try Accounts.find(of: id, session)
    let standing = try Store.standing(of: id, session)
    user = id
    (userName, name) = (stored?.profile.userName, stored?.profile.name)
    createdAt = account?.createdAt ?? stored?.createdAt
    disabledAt = account?.disabledAt
    hasAccount = account != nil
    (posts, friends) = (stored?.posts ?? 0, stored?.friends ?? 0)
    (isBeingDeleted, isSuspended) = (standing.isForgotten, standing.isSuspended)
  }

  var text: String {
    let state = hasAccount ? disabledAt.map { "disabled \(JSON.text(of: $0))" } ?? "active" : "no account"
    let created = createdAt.map { "created \(JSON.text(of: $0))" } ?? "no profile"
    var lines = ["\(user)  \(userName ?? "-")  \(created)  \(state)"]
    if let name { lines.append("  name      \(name)") }
    lines.append("  posts     \(posts)")
    lines.append("  friends   \(friends)")
    if isSuspended { lines.append("  suspended by a moderator") }
    if isBeingDeleted { lines.append("  being deleted") }
    return lines.joined(separator: "\n")
  }
}

/// The result that `take5 users delete` prints.
private struct UserDeletion: Encodable {
  let user: String
  let job: PublicID
  /// The number of tokens that were revoked.
  let tokens: Int
  /// What the job deletes.
  let deleted: Belongings

  var text: String {
    """
    the deletion of \(user) has started, with \(deleted.text)
    \(Counted.text(tokens, "token")) \(tokens == 1 ? "is" : "are") revoked
    a worker deletes everything else: 'take5 jobs show \(job)' shows when it has ended
    """
  }
}

/// The result that `take5 users export` prints.
private struct ExportedUser: Encodable {
  let user: String
  let file: String
  let bytes: Int64
  /// The paths in the archive of the files that it lacks.
  let missing: [String]

  var text: String {
    let content = "everything of \(user), \(bytes) bytes"
    let isStandard = OutputFile.isStandardOutput(file)
    let lacking =
      missing.map { "missing: \($0)" } + [
        isStandard ? "wrote \(content), to standard output" : "wrote \(file) with \(content)"
      ]
    return lacking.joined(separator: "\n")
  }
}

extension Belongings {
  /// In words.
  fileprivate var text: String {
    let parts = [
      CountText.text(posts, "post"), CountText.text(images, "image"), CountText.text(comments, "comment"),
      CountText.text(collections, "collection"),
    ]
    return parts.joined(separator: ", ") + " and \(CountText.text(files, "file")) of \(bytes / 1000) kB"
  }
}
