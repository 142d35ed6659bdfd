package import HTTPServer
internal import Model
package import Platform

/// The limits of attempts to sign in, to register and to change a password. An attempt counts before its password is looked
/// at, and whether a user name exists does not matter.
extension RateLimits {
  /// An attempt to sign in whose body is not read yet.
  package struct SignIn {
    fileprivate let address: IPAddress
    /// The seconds until the address has an attempt again; nil: it had one.
    fileprivate let wait: Double?
  }

  /// Counts an attempt to register for its address; throws a problem with status 429 if the limit is exceeded.
  package func countRegistration(from client: IPAddress) throws(Problem) {
    try take(.attempts, Self.name(of: client.site), configuration.attemptsOfAddress, Self.addressDetail)
  }

  /// Counts an attempt to sign in for its address, before its body is read; throws a problem with status 429 if the limit
  /// is exceeded and no user name has an attempt of its own from there.
  package func beginSignIn(from client: IPAddress) throws(Problem) -> SignIn {
    let address = client.site
    let wait = take(.attempts, Self.name(of: address), configuration.attemptsOfAddress)
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
  package func count(_ attempt: SignIn, as name: String?) throws(Problem) {
    let detail = "There were too many attempts to sign in with this user name."
    guard let name = name.map(Profile.folded(userName:)) else { return try count(attempt, isFamiliar: false) }
    let isFamiliar = isFamiliar(name, attempt)
    try count(attempt, isFamiliar: isFamiliar)
    try take(
      .attempts, "sign-in as \(name) from \(attempt.address)", configuration.attemptsOfName, detail)
    if !isFamiliar { try take(.attempts, "sign-in as \(name)", configuration.attemptsOfNameElsewhere, detail) }
  }

  /// Counts an attempt with a code for another password. The code itself counts those of each address and of all: what strangers try
  /// elsewhere does not keep the user from an attempt.
  ///
  /// - Parameter name: nil: a text that no user name can be.
  package func count(_ attempt: SignIn, withCodeOf name: String?) throws(Problem) {
    let name = name.map(Profile.folded(userName:))
    try count(attempt, isFamiliar: name.map { isFamiliar($0, attempt) } ?? false)
    guard let name else { return }
    try take(
      .attempts, "code of \(name) from \(attempt.address)", configuration.attemptsOfName,
      "There were too many attempts with a code for this user name from this address.")
  }

  private func isFamiliar(_ name: String, _ attempt: SignIn) -> Bool {
    signIns.withLock { $0.contains(attempt.address, name) }
  }

  private func count(_ attempt: SignIn, isFamiliar: Bool) throws(Problem) {
    guard let wait = attempt.wait, !isFamiliar else { return }
    throw refusal(.attempts, Self.name(of: attempt.address), wait, Self.addressDetail)
  }

  /// Counts an attempt with the password of a user who has a token; throws a problem with status 429 if the limit is exceeded.
  ///
  /// - Parameter token: its id, or another name of what the user has.
  package func countPasswordChange(by token: String) throws(Problem) {
    try take(
      .attempts, "password of token \(token)", configuration.attemptsOfName,
      "There were too many attempts to change the password with this user token.")
  }

  /// Counts an attempt to sign in to the console for its address, before its key is looked at; throws a problem with status 429 if the
  /// limit is exceeded. Users of the app who share the address have attempts of their own.
  package func countConsoleSignIn(from client: IPAddress) throws(Problem) {
    try take(
      .attempts, "console sign-in from \(client.site)", configuration.attemptsOfAddress,
      "There were too many attempts to sign in to the console from this address.")
  }

  /// Remembers that a user name has signed in, or was registered, from an address.
  package func recordSignIn(as name: String, from client: IPAddress) {
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
