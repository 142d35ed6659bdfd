internal import Crypto
package import HTTPServer
package import Model
package import Platform

/// What a client of the console is signed in with.
package struct ConsoleSignIn: Sendable, Hashable {
  package let credential: Caller.Credential
  /// The value of the cookie; nil while the service needs no key.
  let cookie: String?
  package let scopes: Set<Scope>
  /// What the console calls it.
  package let name: String
}

/// The sign-in of the console, by a cookie that names a key and ends with it (decision 54).
///
/// Nothing of it is stored: a code over the hash of the key, by the keys that sign media URLs, shows each process of the service that
/// the key was sent. It counts only in requests that say that a page of the service sends them, which no other page can.
extension AccessControl {
  package static let consoleCookie = "take5_console"
  /// The time for which a sign-in is valid, in seconds.
  package static let consoleLifetime = 12 * 3600
  /// The tolerated difference between the clocks of two machines, in seconds.
  private static let skew = 60

  /// Returns what a key signs in with, and the value of the cookie; nil if it is neither a valid API key nor the operator's.
  package func signInToConsole(with key: String) throws(Problem) -> (ConsoleSignIn, cookie: String)? {
    let digest = SHA256.digest(of: Array(key.utf8))
    guard let (credential, scopes) = self.key(digest) else { return nil }
    guard let signing = signingKeys.first else {
      throw ProblemKind.databaseUnavailable.problem(
        "The keys that sign have not been read yet.", headers: ["Retry-After": "5"])
    }
    let minter = Caller(credential: credential, user: nil).tenant
    let expires = now() + Self.consoleLifetime
    let code = Self.code(of: minter, until: expires, keyHash: digest.hex, signing)
    let cookie = "\(minter).\(expires).\(code.hex)"
    return (signIn(credential, cookie, scopes), cookie)
  }

  /// Returns what a client is signed in with, which is nothing but this machine while the service needs no key; nil: it is not.
  package func consoleSignIn(of head: RequestHead, from client: IPAddress) throws(Problem) -> ConsoleSignIn? {
    guard needsKey else {
      try checkOrigin(head, from: client)
      return signIn(.none, nil, Set(Scope.allCases))
    }
    return consoleSignIn(of: head)
  }

  /// Admits a request of the console as one with the key of its cookie. It counts for the address before a code is computed.
  func admitConsole(_ head: RequestHead, from client: IPAddress, to access: RouteAccess) throws(Problem) -> Caller {
    try limits.countRequest(of: client)
    let cookies = head.cookies(Self.consoleCookie)
    guard head.isOfConsole, let signIn = cookies.lazy.compactMap(verified).first else {
      guard !cookies.isEmpty else {
        throw Self.unauthorized("The request has neither a bearer token nor the cookie of a sign-in at /console.")
      }
      throw ProblemKind.sessionEnded.problem(
        "The sign-in of the console has expired, or its key was revoked: sign in at /console with a valid key.",
        headers: ["WWW-Authenticate": #"Bearer realm="take5""#])
    }
    let caller = Caller(credential: signIn.credential, user: try head.actingUser(), cookie: signIn.cookie)
    try limits.countRequest(ofKey: caller.tenant)
    try check(caller, signIn.scopes, access)
    return caller
  }

  private func consoleSignIn(of head: RequestHead) -> ConsoleSignIn? {
    guard head.isOfConsole else { return nil }
    return head.cookies(Self.consoleCookie).lazy.compactMap(verified).first
  }

  /// Whether the cookie of an admitted client is still valid: it expires, and ends with its key and with those that sign.
  func isValid(cookie: String) -> Bool { verified(cookie[...]) != nil }

  private func verified(_ cookie: Substring) -> ConsoleSignIn? {
    let parts = cookie.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false).map { Substring($0) }
    guard parts.count == 3, let expires = Int(parts[1]), let given = SHA256Digest(hex: parts[2]) else { return nil }
    let name = String(parts[0])
    let isOperators = name.utf8.elementsEqual(Caller.operatorName.utf8)
    let minter: UserToken.Minter? = isOperators ? .operatorKey : Int64(name).map { .key($0) }
    let time = now()
    guard expires > time, expires - time <= Self.consoleLifetime + Self.skew, let minter,
      let (credential, scopes) = self.credential(of: minter), let reader = self.reader(name),
      signingKeys.contains(where: {
        HMAC.areEqual(given, Self.code(of: name, until: expires, keyHash: reader.keyHash, $0))
      })
    else { return nil }
    return signIn(credential, String(cookie), scopes)
  }

  private func signIn(_ credential: Caller.Credential, _ cookie: String?, _ scopes: Set<Scope>) -> ConsoleSignIn {
    let name =
      switch credential {
      case .key(let id): self.name(ofKey: id) ?? "key \(id)"
      case .operatorKey: Caller.operatorName
      default: "this machine"
      }
    return ConsoleSignIn(credential: credential, cookie: cookie, scopes: scopes, name: name)
  }

  /// The code of a cookie. What it begins with keeps it apart from the signatures of media URLs, which are made with the same keys.
  private static func code(
    of minter: String, until expires: Int, keyHash: String, _ key: SigningKey
  ) -> SHA256Digest {
    HMAC.code(of: Array("CONSOLE\n\(minter)\n\(expires)\n\(keyHash)".utf8), key: key.secret)
  }
}

extension RequestHead {
  /// Whether a page of the service itself sends the request, so that the cookie of the console counts.
  ///
  /// A page of another origin needs the permission of the service for the header field, which no preflight gives. Browsers also say
  /// what kind of a page sends a request (Fetch Metadata Request Headers, section 2.3).
  var isOfConsole: Bool {
    guard let field = headers[AllowedOrigins.ownField], field.utf8.elementsEqual("1".utf8) else { return false }
    if let site = headers["Sec-Fetch-Site"] { return site.utf8.elementsEqual("same-origin".utf8) }
    // Browsers leave that out where there is no TLS, and say where a request that changes something comes from.
    guard let origin = headers["Origin"] else { return true }
    return ["http", "https"].contains { origin == "\($0)://\(authority ?? "")" }
  }

  /// The maximum number of cookies of a name: a browser sends one, and another one where a further path has it too.
  private static let maxCookies = 2

  /// The values of the last cookies of a name: that of the console has the shortest path, and stands behind those that other hosts of the
  /// domain have set (RFC 6265, section 5.4).
  func cookies(_ name: String) -> [Substring] {
    let start = "\(name)="
    var found: [Substring] = []
    headers.visitElements(of: "Cookie", separatedBy: UInt8(ascii: ";")) { cookie in
      if cookie.starts(with: start.utf8) {
        found.append(Substring(String(decoding: cookie.dropFirst(start.utf8.count), as: UTF8.self)).trimmingBlanks)
      }
      return found.count < Self.maxCookies
    }
    return found.reversed()
  }
}
