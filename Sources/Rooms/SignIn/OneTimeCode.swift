import Crypto
import FoundationEssentials
import HTTPServer
import Model
import Platform
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

  /// The attempts that a code has from each address. They close it for that address alone: a stranger who guesses keeps no user out.
  private static let maxAttempts = 5
  /// The attempts that a code has from all addresses: who guesses is right with one code in ten thousand million.
  private static let maxAttemptsOfAll = 100
  /// How often in a day a code that has no attempts left is replaced at once.
  private static let maxReplacements = 5
  /// The maximum length of a code as people type it, with blanks and hyphens.
  static let maxTyped = 30

  static func random(by generator: inout some RandomNumberGenerator) -> String {
    String((0..<length).compactMap { _ in alphabet.randomElement(using: &generator) })
  }

  /// The mails to an address within an hour, and within a day.
  private static let maxMailsOfHour = 3
  private static let maxMailsOfDay = 10
  /// Those of them that an account may ask for whose address is not verified: strangers who name the address of another user leave
  /// that user the others.
  private static let unverifiedMailsOfHour = 2
  private static let unverifiedMailsOfDay = 6

  /// Creates a code and the event that carries it, unless the user got one within the last five minutes which has attempts left, or the
  /// address gets no more mails for now.
  ///
  /// - Returns: false if the user has no e-mail address.
  static func send(_ kind: UserEvent.Kind, to account: Account, _ session: Session) throws -> Bool {
    guard
      let row = try session.execute(Accounts.statements["email_of_account"], .text(account.user)).first,
      let email = try row.get("email", as: String?.self)
    else { return false }
    let mailbox = Parameter.text(mailbox(email))
    let isVerified = try row.get("is_verified", as: Bool.self)
    let isPermitted = try session.execute(
      Accounts.statements["lock_mail_count"], mailbox,
      .integer(isVerified ? maxMailsOfHour : unverifiedMailsOfHour),
      .integer(isVerified ? maxMailsOfDay : unverifiedMailsOfDay)
    ).single().get("is_permitted", as: Bool.self)
    guard isPermitted else { return true }
    var generator = SystemRandomNumberGenerator()
    let code = random(by: &generator)
    let saved = try session.execute(
      Accounts.statements["save_code"], .text(account.user), .text(kind.rawValue),
      .bytes(SHA256.digest(of: Array(code.utf8)).bytes), .text(email), .double(Double(pause)),
      .integer(maxAttemptsOfAll), .integer(maxReplacements))
    if saved.affected > 0 {
      try session.execute(Accounts.statements["count_mail"], mailbox)
      try Store.notify(
        account.user, of: kind, by: nil,
        data: try JSON.encode([
          "code": code, "email": email, "user_name": account.userName ?? "", "expires_in": "\(lifetime)",
        ]), session)
    }
    return true
  }

  /// An address as it is counted: in any case, and without the tag after a plus sign, which most servers ignore (RFC 5233).
  static func mailbox(_ email: String) -> String {
    let folded = Profile.folded(userName: email)
    guard let at = folded.lastIndex(of: "@"), let plus = folded[..<at].firstIndex(of: "+") else { return folded }
    return String(folded[..<plus] + folded[at...])
  }

  /// Stores a request for a code by which a user gets another password; `makeRequested` makes it.
  static func request(by name: AccountName, _ session: Session) throws {
    let (text, isEmail) =
      switch name {
      case .userName(let text): (text, false)
      case .email(let text): (text, true)
      }
    try session.execute(Accounts.statements["insert_code_request"], .text(text), .bool(isEmail))
    try session.executeAfterCommit(Store.statements["notify_user"], .text(requestChannel), .text(""))
  }

  /// The channel that notifies the workers of requests.
  static let requestChannel = "take5_code_requests"

  /// Makes the code of the oldest request, if there is such an account and the request is no older than a code may be.
  ///
  /// - Returns: false if nothing is requested.
  static func makeRequested(_ session: Session) throws -> Bool {
    let taken = try session.execute(Accounts.statements["take_code_request"], .double(Double(lifetime)))
    guard let row = taken.first else {
      return false
    }
    // Who asked so long ago has asked again, or waits no longer.
    if try row.get("is_late") { return true }
    let text = try row.get("name", as: String.self)
    let name: AccountName = try row.get("is_email") ? .email(text) : .userName(text)
    do {
      try session.savepoint { session in
        guard let account = try Accounts.find(name, session), account.disabledAt == nil else { return }
        _ = try send(.passwordResetRequested, to: account, session)
      }
    } catch  where SetAside.isOfRow(error) {
      try SetAside.note(.codeRequest, "\(row.get("id", as: Int64.self))", error, session)
    }
    return true
  }

  /// Deletes codes that have expired, also from the events that carried them; returns their number.
  static func dropExpired(_ session: Session) throws -> Int {
    try session.execute(Accounts.statements["drop_mail_counts"])
    try session.execute(Accounts.statements["blank_events_with_codes"], .double(Double(lifetime)))
    return try session.execute(Accounts.statements["drop_expired_codes"], .double(Double(lifetime))).affected
  }

  /// Counts an attempt of a client with a code that a user has typed, and returns whether it is right. The transaction must commit in
  /// both cases.
  ///
  /// - Parameter user: nil: there is none with the name; the same work is done.
  static func isRight(
    _ typed: String, _ kind: UserEvent.Kind, of user: String?, from client: IPAddress, _ session: Session
  ) throws -> Bool {
    let tried = try session.execute(
      Accounts.statements["try_code"], .text(user), .text(kind.rawValue), .bytes(hash(typed)),
      .integer(maxAttemptsOfAll), .double(Double(lifetime)), .text("\(client.site)"), .integer(maxAttempts))
    guard let row = tried.first else {
      try session.execute(Accounts.statements["miss_code"], .integer(Int.random(in: 0..<64)))
      return false
    }
    return try row.get("is_right")
  }

  /// Uses a code, which thereby verifies the address that it was for; false if it was used meanwhile, or if the user has another
  /// address now. An address that another user has verified stays with that user.
  ///
  /// - Throws: `EmailTaken` if `needsAddress` and another user has it, `ForgottenRefusal`. The caller must roll back.
  static func use(
    _ typed: String, _ kind: UserEvent.Kind, of user: String, needsAddress: Bool, _ session: Session
  ) throws -> Bool {
    try Store.requireUsers(user, allowingSuspended: true, in: session)
    try session.execute(Accounts.statements["lock_account_user"], .text(user))
    let taken = try session.execute(
      Accounts.statements["take_code"], .text(user), .text(kind.rawValue), .bytes(hash(typed)))
    guard let email = try taken.first?.get("email", as: String.self) else { return false }
    if let holder = try Accounts.find(.email(email), session), holder.user != user {
      if needsAddress { throw EmailTaken() }
      return true
    }
    do {
      try session.execute(Accounts.statements["verify_email"], .text(user))
    } catch let error where error.constraint == "app_user_verified_email" {
      throw EmailTaken()
    }
    return true
  }

  /// The hash of what a user has typed: in any case, with what resembles a digit, and with what groups characters.
  private static func hash(_ typed: String) -> [UInt8] {
    let characters = typed.utf8.compactMap { byte -> UInt8? in
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "-"): nil
      case UInt8(ascii: "o"), UInt8(ascii: "O"): UInt8(ascii: "0")
      case UInt8(ascii: "i"), UInt8(ascii: "I"), UInt8(ascii: "l"), UInt8(ascii: "L"): UInt8(ascii: "1")
      case UInt8(ascii: "a")...UInt8(ascii: "z"): byte & ~0x20
      default: byte
      }
    }
    return SHA256.digest(of: characters).bytes
  }
}

/// The error for an address that another user has verified.
struct EmailTaken: Error {}

extension SetAside.Table {
  /// No code is made.
  static let codeRequest = Self("code_request")
}
