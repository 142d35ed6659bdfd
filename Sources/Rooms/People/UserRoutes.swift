internal import Crypto
import FoundationEssentials
internal import HTTPServer
internal import Kit
internal import Model
internal import Postgres
internal import Store

/// The routes of users and their profiles.
struct UserRoutes: RouteRoom {
  let kit: Kit
  /// Permits a change of the profile of a user, or throws a problem; returns what of it is made.
  let permit: @Sendable (ProfileUpdate, Request) async throws -> ProfileChange

  var routes: [Route] {
    [
      route("GET", "/v1/users", access: .key([.read]), readsQuery: true, handler: searchUsers),
      route("GET", "/v1/users/{id}", access: .key([.read]), includes: true, handler: readUser),
      route(
        "PUT", "/v1/users/{id}", access: .key([.change, .read]), bodyLimit: JSONBody.limit
      ) { try await saveUser($0, replacesAll: true) },
      route(
        "PATCH", "/v1/users/{id}", access: .key([.change, .read]), bodyLimit: JSONBody.limit
      ) { try await saveUser($0, replacesAll: false) },
    ]
  }

  private func searchUsers(_ request: Request) async throws -> Response {
    var reader = QueryReader(request.target)
    let ids = reader.texts("id")
    let email = ids.isEmpty ? reader.text("email", limit: Profile.maxEmail) : nil
    let isNamed = !ids.isEmpty || email != nil
    let fields = try FieldFilter(isNamed ? [:] : reader.fieldConditions(definitions.fields.users))
    let text = isNamed || fields != nil ? "" : reader.text("query", isRequired: true) ?? ""
    let limit = ids.isEmpty ? reader.number("limit", in: PageRequest.limits) ?? PageRequest().limit : ids.count
    let inclusion = try inclusion(of: AppUser.self, &reader, request)
    try reader.finish()
    let (viewer, urls) = (request.caller.viewer, access.mediaURLs(for: request))
    if email != nil { try access.requireTokens(of: request.caller, for: "The parameter email") }
    let (users, included) = try await queryList(isWide: fields != nil) { session in
      let users =
        if let email {
          try People.list(withEmail: email, session)
        } else if let fields {
          try People.list(with: fields, for: viewer, limit: limit, session)
        } else if ids.isEmpty {
          try People.list(like: text, for: viewer, limit: limit, session)
        } else {
          try People.list(ids, for: viewer, session)
        }
      return (users, try inclusion.read(users, session))
    }
    return try .uncached(
      PageResponse(items: users.map { UserResponse($0, urls) }, next: nil), including: included)
  }

  private func readUser(_ request: Request) async throws -> Response {
    let (id, urls) = (try name(request), access.mediaURLs(for: request))
    return try await show(request, { UserResponse($0, urls) }, else: Self.notFound(.user, id)) {
      try People.find(id, for: $0, $1)
    }
  }

  private func saveUser(_ request: Request, replacesAll: Bool) async throws -> Response {
    let (id, urls) = (try name(request), access.mediaURLs(for: request))
    var fields = try await JSONBody.fields(of: request)
    let password = fields.removeValue(forKey: "former_password") ?? .null
    switch password {
    case .null, .string: break
    default: throw ProblemKind.invalid([FieldError("former_password", "expected a text")])
    }
    let wanted = ProfileUpdate(
      user: id, change: try ProfileChange(fields: fields, replacesAll: replacesAll, defined: definitions.fields.users),
      namesEmail: fields["email"] != nil, password: password)
    // Before the password is looked at, and before the request counts: of another user nothing is said or used up.
    guard request.caller.viewer.owns(id) else { throw Caller.notYours("The profile belongs to another user.") }
    try access.countSubmission(of: id, request)
    let change = try await permit(wanted, request)
    do {
      return try await show(request, { UserResponse($0, urls) }, changing: true, else: Self.notFound(.user, id)) {
        viewer, session in
        try People.save(change, of: id, for: viewer, session) { try request.checkVersion(of: $0, named: "user") }
        return try People.find(id, for: viewer, session)
      }
    } catch let error as UserNameRequired {
      let reason =
        error.signsIn
        ? "is required: the user signs in with it"
        : "is required: the user has one; repeat it, or write null to give it up"
      throw ProblemKind.invalid([FieldError("user_name", reason)])
    } catch is BirthDateFixed {
      throw ProblemKind.invalid([
        FieldError("birth_date", "is known: only a back-end removes it or makes the user older")
      ])
    } catch is UserNameTaken {
      throw ProblemKind.userNameTaken.problem(
        "The user name '\(change.userName.applied(to: nil) ?? "")' is taken or reserved.")
    }
  }
}

/// What a request would change of a profile.
struct ProfileUpdate: Sendable {
  let user: String
  let change: ProfileChange
  /// Whether the request names the e-mail address, as null or as a text.
  let namesEmail: Bool
  /// What the request has as the present password: null or a text.
  let password: JSONValue
}

extension ProfileChange {
  /// Reads the members of a profile, or of a merge patch of it (RFC 7396); throws a problem that names every invalid member.
  ///
  /// - Parameters:
  ///   - replacesAll: whether members that are absent are empty; the user name is never emptied so.
  ///   - defined: the fields that a definition names.
  init(
    fields: [String: JSONValue], replacesAll: Bool, defined: [String: FieldDefinition] = [:]
  ) throws(Problem) {
    var reader = FieldReader(fields, path: "")
    let profile = Profile(&reader)
    let change = reader.fieldChange(by: defined, among: fields, isWhole: replacesAll)
    try reader.check()
    self.init(profile)
    self.fields = change
    isReplacement = replacesAll
    if fields["user_name"] == nil { userName = .keep }
    guard !replacesAll else { return }
    for (name, member) in Self.members where fields[name] == nil { self[keyPath: member] = .keep }
  }

  private static var members: [(name: String, member: WritableKeyPath<ProfileChange, MemberChange<String>>)] {
    [
      ("name", \.name), ("given_name", \.givenName), ("family_name", \.familyName), ("bio", \.bio),
      ("birth_date", \.birthDate), ("email", \.email),
    ]
  }
}

extension Profile {
  /// Reads the fields of a profile; absent fields are empty.
  init(_ reader: inout FieldReader) {
    self.init(
      userName: reader.value("user_name", Self.expectedUserName) { Self.text($0, Profile.isUserName) },
      name: reader.displayName("name"), givenName: reader.displayName("given_name"),
      familyName: reader.displayName("family_name"), bio: reader.text("bio", limit: MaxLength.text),
      birthDate: reader.value("birth_date", "expected a date in the past, such as \"2001-02-28\"") {
        Self.text($0, Self.isBirthDate)
      },
      email: reader.value("email", "expected an e-mail address of at most \(Self.maxEmail) characters") {
        Self.text($0, Self.isAddress)
      })
  }

  private static let expectedUserName =
    "expected 1 to \(maxUserName) ASCII letters, digits, dots, underscores and hyphens"

  private static func text(_ value: JSONValue, _ isValid: (String) -> Bool) -> String? {
    guard case .string(let text) = value, isValid(text) else { return nil }
    return text
  }

  /// Whether a text is a date before that of today, in UTC.
  private static func isBirthDate(_ text: String) -> Bool {
    FieldReader.isDate(text) && text.utf8.lexicographicallyPrecedes(JSON.text(of: .now).utf8.prefix(text.utf8.count))
  }

  /// Whether a text may be an e-mail address: one `@` between visible characters and a domain. Only a message to it could show more.
  ///
  /// What a mailer reads as a list, a comment, a quotation or a name is none of them (RFC 5322, section 3.2.3, `specials`): it would be
  /// another spelling of some mailbox, which the limit of mails does not count for it.
  private static func isAddress(_ text: String) -> Bool {
    // By code points: a character may be '@' with what combines with it.
    let scalars = text.unicodeScalars
    let parts = scalars.split(separator: "@", omittingEmptySubsequences: false)
    guard parts.count == 2, scalars.count <= maxEmail, !parts[0].isEmpty else { return false }
    let isVisible = parts[0].allSatisfy { scalar in
      scalar.value > 0x20 && scalar.value != 0x7F && !"()<>[]:;,\\\"".unicodeScalars.contains(scalar)
        && !scalar.properties.isDefaultIgnorableCodePoint && !scalar.properties.isWhitespace
        && scalar.properties.generalCategory != .control
    }
    let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
    return isVisible
      && labels.allSatisfy { label in
        guard label.first != "-", label.last != "-", !label.isEmpty else { return false }
        return label.allSatisfy { $0 == "-" || $0.isASCII && ($0.properties.isAlphabetic || "0"..."9" ~= $0) }
      }
  }
}
