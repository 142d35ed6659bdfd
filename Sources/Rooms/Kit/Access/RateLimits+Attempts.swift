internal import HTTPServer
internal import Model
internal import Platform

/// The limits of attempts to sign in, to register and to change a password. An attempt counts before its password is looked
/// at, and whether a user name exists does not matter.
extension RateLimits {
  /// An attempt to sign in whose body is not read yet.
  struct SignIn {
    fileprivate let address: IPAddress
    /// The seconds until the address has an attempt again; nil: it had one.
    fileprivate let wait: Double?
  }

  /// Counts an attempt to register for its address; throws a problem with status 429 if the limit is exceeded.
  func countRegistration(from client: IPAddress) throws(Problem) {
    try take(.attempts, Self.name(of: client.site), configuration.attemptsOfAddress, Self.addressDetail)
  }

  /// Counts an attempt to sign in for its address, before its body is read; throws a problem with status 429 if the limit
  /// is exceeded and no user name has an attempt of its own from there.
  func beginSignIn(from client: IPAddress) throws(Problem) -> SignIn {
    let address = client.site
    let wait = take(Self.name(of: address), configuration.attemptsOfAddress)
    if let wait, !signIns.withLock({ $0.contains(address) }) {
      throw refusal(.attempts, Self.name(of: address), wait, Self.addressDetail)
    }
    return SignIn(address: address, wait: wait)
  }

  /// Counts an attempt for the user name that it has; throws a problem with status 429 if a limit is exceeded.
  ///
  /// A name that has signed in from the address lately has attempts of its own from there, which no other address uses up that tries
  /// the name elsewhere, or other names from there.
  ///
  /// - Parameter name: nil: a text that no user name can be.
  func count(_ attempt: SignIn, as name: String?) throws(Problem) {
    let name = name.map(Profile.folded(userName:))
    let isFamiliar = name.map { name in signIns.withLock { $0.contains(attempt.address, name) } } ?? false
    if let wait = attempt.wait, !isFamiliar {
      throw refusal(.attempts, Self.name(of: attempt.address), wait, Self.addressDetail)
    }
    guard let name else { return }
    let detail = "There were too many attempts to sign in with this user name."
    try take(
      .attempts, "sign-in as \(name) from \(attempt.address)", configuration.attemptsOfName, detail)
    if !isFamiliar { try take(.attempts, "sign-in as \(name)", configuration.attemptsOfNameElsewhere, detail) }
  }

  /// Counts an attempt to change a password with a user token; throws a problem with status 429 if the limit is exceeded.
  func countPasswordChange(by token: PublicID) throws(Problem) {
    try take(
      .attempts, "password of token \(token)", configuration.attemptsOfName,
      "There were too many attempts to change the password with this user token.")
  }

  /// Counts an attempt to sign in to the console for its address, before its key is looked at; throws a problem with status 429 if the
  /// limit is exceeded. Users of the app who share the address have attempts of their own.
  func countConsoleSignIn(from client: IPAddress) throws(Problem) {
    try take(
      .attempts, "console sign-in from \(client.site)", configuration.attemptsOfAddress,
      "There were too many attempts to sign in to the console from this address.")
  }

  /// Remembers that a user name has signed in, or was registered, from an address.
  func recordSignIn(as name: String, from client: IPAddress) {
    signIns.withLock { $0.insert(client.site, Profile.folded(userName: name)) }
  }

  private static let addressDetail = "There were too many attempts to sign in or to register from this address."

  private static func name(of address: IPAddress) -> String { "sign-in from \(address)" }
}

/// The addresses from which user names have signed in lately.
struct RecentSignIns: Sendable {
  private struct Place: Sendable, Hashable {
    let address: IPAddress
    /// Nil: any name.
    let name: String?
  }

  private var places = RecentEntries<Place, Bool>(lifetime: .seconds(30 * 86_400), maxEntries: 50_000)

  func contains(_ address: IPAddress, _ name: String? = nil) -> Bool {
    places.value(of: Place(address: address, name: name)) != nil
  }

  mutating func insert(_ address: IPAddress, _ name: String) {
    let now = ContinuousClock.now
    places.insert(true, of: Place(address: address, name: nil), at: now)
    places.insert(true, of: Place(address: address, name: name), at: now)
  }
}
