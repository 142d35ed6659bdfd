public import Foundation

extension Take5Client {
  /// The session of the user who is signed in, or nil.
  public var session: Session? {
    get async throws(Take5Error) { try await connection.sessions.current() }
  }

  /// Registers a user, and signs in.
  ///
  /// - Parameters:
  ///   - name: The user name: 1 to 30 ASCII letters, digits, `.`, `_` and `-`. One that is taken throws a problem with the code `userNameTaken`.
  ///   - password: 8 to 200 characters.
  ///   - displayName: The name that apps show.
  ///   - email: An address for a forgotten password, which `requestVerification()` verifies.
  ///   - device: How the user calls this device in the list of sessions.
  @discardableResult
  public func register(
    name: String, password: String, displayName: String? = nil, email: String? = nil, device: String? = nil
  ) async throws(Take5Error) -> Session {
    let body: JSONValue = [
      "user_name": .string(name), "password": .string(password), "name": JSONValue(displayName),
      "email": JSONValue(email), "device": JSONValue(device), "refresh": true,
    ]
    return try await begin(Request("POST", "/v1/accounts", json: body, isOpen: true))
  }

  /// Signs in by user name. A wrong password throws a problem with the code `signInFailed`.
  @discardableResult
  public func signIn(name: String, password: String, device: String? = nil) async throws(Take5Error) -> Session {
    try await signIn(["user_name": .string(name)], password, device)
  }

  /// Signs in by an e-mail address that is verified.
  @discardableResult
  public func signIn(email: String, password: String, device: String? = nil) async throws(Take5Error) -> Session {
    try await signIn(["email": .string(email)], password, device)
  }

  private func signIn(_ who: [String: JSONValue], _ password: String, _ device: String?) async throws(Take5Error)
    -> Session
  {
    let rest = ["password": .string(password), "device": JSONValue(device), "refresh": true]
    return try await begin(
      Request("POST", "/v1/sessions", json: .object(who.merging(rest) { $1 }), isOpen: true))
  }

  private func begin(_ request: Request) async throws(Take5Error) -> Session {
    let session: Session = try await connection.value(request)
    try await connection.sessions.begin(session)
    await uploads.resume()
    return session
  }

  /// Signs out: forgets the session and everything in the queue, also without a network.
  ///
  /// - Returns: Whether the service has ended the session too. If it could not be reached, its access token lives for an hour at most.
  @discardableResult
  public func signOut() async -> Bool {
    await uploads.forgetAll()
    var request = Request("DELETE", "/v1/tokens/current")
    (request.retries, request.timeout) = (0, 10)
    let hasEnded: Bool
    do throws(Take5Error) {
      _ = try await connection.response(request)
      hasEnded = true
    } catch {
      hasEnded = error.code == .sessionEnded || error.code == .unauthorized
    }
    await connection.sessions.end()
    return hasEnded
  }

  /// Changes the password, which ends the other sessions of the user.
  public func changePassword(from former: String, to password: String) async throws(Take5Error) {
    let body: JSONValue = ["former_password": .string(former), "password": .string(password)]
    _ = try await connection.response(Request("PUT", "/v1/accounts/current/password", json: body))
  }

  /// Requests a code for the e-mail address of the profile.
  public func requestVerification() async throws(Take5Error) {
    _ = try await connection.response(Request("POST", "/v1/accounts/current/verification", json: [:]))
  }

  /// Verifies the e-mail address with the code of the last message.
  public func verify(code: String) async throws(Take5Error) {
    _ = try await connection.response(
      Request("PUT", "/v1/accounts/current/verification", json: ["code": .string(code)]))
  }

  /// Requests a code for a forgotten password, also of a name that does not exist: the response does not say which do.
  public func requestPasswordReset(name: String) async throws(Take5Error) {
    _ = try await connection.response(
      Request("POST", "/v1/password-resets", json: ["user_name": .string(name)], isOpen: true))
  }

  /// Sets another password with the code of the last message. The user then signs in.
  public func resetPassword(name: String, code: String, password: String) async throws(Take5Error) {
    let body: JSONValue = ["user_name": .string(name), "code": .string(code), "password": .string(password)]
    _ = try await connection.response(Request("PUT", "/v1/password-resets", json: body, isOpen: true))
  }

  /// The URL of a media file, whose `url` in a record may be a path of the service. It needs no credential, and is to be used as it is.
  public func url(of asset: Asset) -> URL { connection.url(asset.path) }
}
