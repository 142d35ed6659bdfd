package import Crypto
package import HTTPServer
package import Model

/// The client of an admitted request: what it has authenticated with, and the user that it acts as.
package struct Caller: Principal, Hashable {
  package enum Credential: Sendable, Hashable {
    /// None: the route is open, or the service needs no key.
    case none
    case operatorKey
    /// The API key with this number.
    case key(Int64)
    case token(UserToken)
    /// A token of the app's identity provider.
    case provider(IdentityToken)
    /// A signed media URL.
    case signature
    /// None, where what is public needs none.
    case stranger
  }

  package let credential: Credential
  /// The user that the client acts as; nil: it sees and changes everything that its scopes permit.
  package let user: String?
  /// The cookie that stands for the credential; nil: the client has sent the credential itself.
  var cookie: String?

  static let anonymous = Caller(credential: .none, user: nil)
  static let stranger = Caller(credential: .stranger, user: nil)

  var isAuthenticated: Bool {
    switch credential {
    case .none, .signature, .stranger: false
    case .operatorKey, .key, .token, .provider: true
    }
  }

  /// A key that acts as a user uses the share of the user: the back-end of an app serves all of its users.
  package var shareHolder: ShareHolder? { isAuthenticated ? user.map(ShareHolder.user(id:)) ?? .key(tenant) : nil }

  package var viewer: Viewer { credential == .stranger ? .stranger : Viewer(user: user) }

  /// The token of the client; nil if it has another credential.
  package var token: UserToken? { if case .token(let token) = credential { token } else { nil } }

  /// Whether the client has authenticated as the user that it acts as.
  package var isUser: Bool {
    switch credential {
    case .token, .provider: true
    case .none, .operatorKey, .key, .signature, .stranger: false
    }
  }

  /// The API key that the client has, or that its token was minted by, or the identity provider: limits of submissions hold
  /// for it.
  package var tenant: String {
    switch credential {
    case .none, .signature, .stranger: ""
    case .operatorKey: Self.operatorName
    case .key(let id): "\(id)"
    case .provider: "provider"
    case .token(let token):
      switch token.minter {
      case .anybody: ""
      case .account: "account"
      case .operatorKey: Self.operatorName
      case .key(let id): "\(id)"
      }
    }
  }

  /// The credential as that of a token or a ticket which the client gets.
  package var minter: UserToken.Minter {
    switch credential {
    case .key(let id): .key(id)
    case .operatorKey: .operatorKey
    case .token(let token): token.minter
    // A token of the identity provider mints nothing, and its tickets know it.
    case .none, .signature, .stranger, .provider: .anybody
    }
  }

  /// The owner of an idempotency key: the API key and the acting user. An upload grant has its own, so that its token
  /// gets no response to a request of another token.
  package var idempotencyTenant: String {
    guard let user else { return tenant }
    if let token, token.grant != nil { return "\(token.id)/\(user)" }
    return "\(tenant)/\(user)"
  }

  /// The name of the operator's key where API keys have numbers.
  static let operatorName = "operator"

  /// Returns the author that a request names, or the acting user if it names none; throws a problem if the request names
  /// another user.
  package func author(_ given: String?) throws(Problem) -> String? {
    guard let given else { return user }
    guard viewer.owns(given) else { throw Self.notYours("The request acts as another user than '\(given)'.") }
    return given
  }

  /// Throws a problem unless an upload grant, if the token has one, permits a kind of submission; nil: none permits it.
  package func checkGrant(_ kind: SubmissionKind?) throws(Problem) {
    guard let grant = token?.grant else { return }
    guard let kind, grant.kinds.contains(kind) else {
      throw ProblemKind.notGranted.problem(
        "The token permits a submission of the kind \(grant.kinds.map(\.rawValue).joined(separator: " or ")).")
    }
  }

  package static func notYours(_ detail: String) -> Problem { ProblemKind.notYours.problem(detail) }
}

extension Request {
  /// The client, which the admission of every route of the API identifies.
  package var caller: Caller {
    guard let caller = principal as? Caller else { preconditionFailure("the route has another admission") }
    return caller
  }
}
