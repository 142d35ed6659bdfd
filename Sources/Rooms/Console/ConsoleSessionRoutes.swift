internal import HTTPServer
internal import Kit
internal import Model
internal import Platform

/// The routes of the sign-in of the console, which takes a key once and sets a cookie.
struct ConsoleSessionRoutes: RouteRoom {
  let kit: Kit

  var routes: [Route] {
    [
      route("GET", "/console/session", access: .anyone, handler: readSession),
      route("POST", "/console/session", access: .anyone, bodyLimit: Self.maxBytes, handler: signIn),
      route("DELETE", "/console/session", access: .anyone, handler: signOut),
    ]
  }

  /// The maximum length of a body that signs in, in bytes.
  private static let maxBytes: Int64 = 4 << 10
  /// The maximum length of a key, in characters.
  private static let maxKey = 1000

  private func readSession(_ request: Request) async throws -> Response {
    try response(try access.consoleSignIn(of: request.head, from: request.client))
  }

  private func signIn(_ request: Request) async throws -> Response {
    try access.limits.countConsoleSignIn(from: request.client)
    var reader = FieldReader(try await JSONBody.fields(of: request), path: "")
    let key = reader.required("key", limit: Self.maxKey)
    try reader.check()
    guard access.needsKey else { return try await readSession(request) }
    guard let (signIn, cookie) = try access.signInToConsole(with: String(key.trimmingBlanks)) else {
      throw ProblemKind.keyInvalid.problem(
        "The key is neither a valid API key nor the operator's key.",
        headers: ["WWW-Authenticate": #"Bearer realm="take5""#])
    }
    var response = try self.response(signIn)
    response.headers["Set-Cookie"] = Self.cookie(cookie, seconds: AccessControl.consoleLifetime, request)
    return response
  }

  private func signOut(_ request: Request) async throws -> Response {
    try request.checkVersion(of: nil)
    return Response(.noContent, headers: ["Set-Cookie": Self.cookie("", seconds: 0, request)])
  }

  /// The header field that sets the cookie (RFC 6265, section 4.1). Scripts cannot read it, and no request of a page of another site has it.
  private static func cookie(_ value: String, seconds: Int, _ request: Request) -> String {
    let isSecure = request.isProxied && request.headers.list("X-Forwarded-Proto").last?.lowercasedASCII == "https"
    return "\(AccessControl.consoleCookie)=\(value); Path=/; Max-Age=\(seconds); HttpOnly; SameSite=Strict"
      + (isSecure ? "; Secure" : "")
  }

  private func response(_ signIn: ConsoleSignIn?) throws -> Response {
    try .uncached(
      ConsoleSessionResponse(signIn, definitions: definitions.mediaNames, hasAccounts: access.hasAccounts))
  }
}

/// The JSON of a sign-in. Who is not signed in gets nothing that says more of the service than that.
struct ConsoleSessionResponse: NilEncodable {
  let signedIn: Bool
  /// `key`, `operator`, or `none` without a key.
  let credential: String
  let name: String?
  let scopes: [String]
  /// The version of take5.
  let version: String?
  let accounts: Bool?
  /// The names of the definitions that media are processed with.
  let definitions: [String]

  init(_ signIn: ConsoleSignIn?, definitions: [String], hasAccounts: Bool) {
    signedIn = signIn != nil
    credential =
      switch signIn?.credential {
      case .key: "key"
      case .operatorKey: "operator"
      default: "none"
      }
    name = signIn?.name
    scopes = Scope.allCases.filter { signIn?.scopes.contains($0) == true }.map(\.rawValue)
    version = signIn.map { _ in ThisProcess.version }
    accounts = signIn.map { _ in hasAccounts }
    self.definitions = signIn == nil ? [] : definitions
  }
}
