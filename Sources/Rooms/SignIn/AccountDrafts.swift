internal import Crypto
internal import HTTPServer
internal import Kit
internal import Model

/// What a request to register asks for.
struct RegistrationDraft {
  let profile: Profile
  let userName: String
  let password: String
  let session: SessionDraft
  /// What the operator's check wants to see.
  let evidence: String?

  /// The maximum length of the evidence, in characters: tokens of captchas have some two thousand.
  private static let maxEvidence = 8192

  /// Reads the fields of the body; throws a problem that names every invalid field.
  ///
  /// - Parameter defined: the fields of users that a definition names.
  init(fields: [String: JSONValue], defined: [String: FieldDefinition] = [:]) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    var profile = Profile(&reader)
    profile.fields = reader.fieldChange(by: defined, among: fields, isWhole: true).applied(to: nil)
    self.profile = profile
    password = reader.newPassword()
    session = SessionDraft(&reader)
    evidence = reader.text("evidence", limit: Self.maxEvidence)
    var errors = reader.finish()
    // A profile may be without a name, and an account may not.
    if fields["user_name", default: .null] == .null { errors.append(FieldError("user_name", "is required")) }
    guard errors.isEmpty, let userName = profile.userName else { throw ProblemKind.invalid(errors) }
    self.userName = userName
  }
}

/// What a request asks of the session that it begins.
struct SessionDraft {
  /// Of the token, in seconds.
  let lifetime: Int
  /// Whether refresh tokens renew it.
  let isRenewable: Bool
  /// What the user calls the device.
  let device: String?

  /// Reads the fields; the caller checks the errors (`check`).
  init(_ reader: inout FieldReader) {
    isRenewable =
      reader.value("refresh", "expected true or false") { value in
        if case .boolean(let isRenewable) = value { isRenewable } else { nil }
      } ?? false
    let limit = RefreshChain.accessLifetime
    lifetime = isRenewable ? reader.integer("expires_in", in: 1...limit) ?? limit : reader.expiresIn()
    device = reader.device()
  }
}

/// What an account is found by.
enum AccountName {
  case userName(String)
  /// An address that is verified.
  case email(String)

  /// Reads `user_name` or `email`; the caller checks the errors (`check`).
  init(_ fields: [String: JSONValue], _ reader: inout FieldReader) {
    guard fields["email", default: .null] != .null else {
      self = .userName(reader.required("user_name", limit: Profile.maxUserName))
      return
    }
    self = .email(reader.required("email", limit: Profile.maxEmail))
    if reader.text("user_name", limit: Profile.maxUserName) != nil {
      reader.refuse("user_name", "cannot stand beside email; send one of them")
    }
  }

  /// What attempts are counted for; nil: a text that no account can have.
  var counted: String? {
    switch self {
    case .userName(let text): Profile.isUserName(text) ? text : nil
    case .email(let address): address
    }
  }
}

/// What a request to sign in asks for.
struct SignInDraft {
  let name: AccountName
  let password: String
  let session: SessionDraft

  /// Reads the fields of the body; throws a problem that names every invalid field.
  init(fields: [String: JSONValue]) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    name = AccountName(fields, &reader)
    password = reader.password("password")
    session = SessionDraft(&reader)
    try reader.check()
  }
}

/// What a request for another password asks for.
struct PasswordDraft {
  /// Nil if it need not be known.
  let former: String?
  let password: String

  /// Reads the fields of the body; throws a problem that names every invalid field.
  ///
  /// - Parameter needsFormer: whether the former password is required; otherwise it is unknown.
  init(fields: [String: JSONValue], needsFormer: Bool) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    former = needsFormer ? reader.password("former_password") : nil
    password = reader.newPassword()
    try reader.check()
  }
}

/// What a request with the code for another password asks for.
struct CodedPasswordDraft {
  let name: AccountName
  let code: String
  let password: String

  /// Reads the fields of the body; throws a problem that names every invalid field.
  init(fields: [String: JSONValue]) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    name = AccountName(fields, &reader)
    code = reader.required("code", limit: OneTimeCode.maxTyped)
    password = reader.newPassword()
    try reader.check()
  }
}

extension FieldReader {
  /// Reads a password that exists, of any length that a password may have had: a character may be typed as four.
  fileprivate mutating func password(_ name: String) -> String { required(name, limit: 4 * Account.maxPassword) }

  fileprivate mutating func newPassword() -> String {
    // A sign-in could not send U+0000, as no text of a request has it.
    value(
      "password", "expected \(Account.minPassword) to \(Account.maxPassword) characters without U+0000",
      isRequired: true
    ) { value in
      guard case .string(let text) = value, text.has(atMost: 4 * Account.maxPassword),
        Account.minPassword...Account.maxPassword ~= PasswordHash.prepared(text).unicodeScalars.count,
        !text.unicodeScalars.contains("\0")
      else { return nil }
      return text
    } ?? ""
  }
}
