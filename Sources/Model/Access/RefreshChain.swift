/// The refresh tokens of a session, by their hashes: each renews the session once, and is followed by another one.
package struct RefreshChain: Sendable, Hashable {
  /// What a request with a refresh token leads to.
  package enum Step: Sendable, Hashable {
    /// The next tokens.
    case renewal
    /// The tokens of the last renewal, whose response was lost.
    case repetition
    /// The end of the session: two clients have its tokens, and one has stolen them.
    case end
  }

  /// The time for which a request may be repeated, in seconds, and longer until one of the tokens that it brought is used: a phone may be
  /// in a tunnel, or asleep.
  package static let grace = 30.0
  /// The lifetime of a session without a renewal, and its lifetime in all, in seconds.
  package static let idleLifetime = 30 * 86_400
  package static let maxLifetime = 365 * 86_400
  /// The maximum and the default lifetime of an access token in seconds.
  package static let accessLifetime = 3600

  /// The hash of the token that renews the session.
  let current: [UInt8]
  /// The hash of the one before; nil: the session was never renewed.
  let former: [UInt8]?
  /// The seconds since the last renewal.
  let age: Double
  /// Whether a request has come with the access token of the last renewal.
  let isUsed: Bool

  package init(current: [UInt8], former: [UInt8]?, age: Double, isUsed: Bool) {
    self.current = current
    self.former = former
    self.age = age
    self.isUsed = isUsed
  }

  /// Returns what follows from a token of this session.
  package func step(after token: [UInt8]) -> Step {
    if token == current { return .renewal }
    return token == former && (age < Self.grace || !isUsed) ? .repetition : .end
  }
}
