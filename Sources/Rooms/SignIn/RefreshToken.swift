internal import Crypto
internal import Kit
internal import Model

/// A refresh token: what all of a session have in common, by which the session is found, and a part of its own. So a token that was used
/// long ago still names its session, and only who has had one can end it.
struct RefreshToken: Sendable {
  /// The start of every refresh token, by which programs that search for leaked secrets recognize it.
  static let prefix = "t5r_"
  /// The length of the prefix and of both parts.
  static let length = prefix.utf8.count + 2 * partLength
  private static let partLength = 2 * SHA256Digest.count

  let text: String
  private var session: Substring { text.prefix(Self.prefix.utf8.count + Self.partLength) }

  /// Reads a token of a client; nil for a text that cannot be one.
  init?(_ text: String) {
    guard text.utf8.count == Self.length, text.utf8.starts(with: Self.prefix.utf8) else { return nil }
    self.text = text
  }

  /// Creates the first token of a session.
  init() { text = Kit.newSecret(Self.prefix) + Kit.newSecret("") }

  private init(session: Substring, own: String) { text = session + own }

  /// The hash that the session has in the database.
  var sessionHash: SHA256Digest { SHA256.digest(of: Array(session.utf8)) }
  var hash: SHA256Digest { SHA256.digest(of: Array(text.utf8)) }

  /// Returns the tokens of the renewal by this one: each time the same, for who knows the secret of the session.
  func next(_ secret: [UInt8]) -> (refresh: RefreshToken, access: String) {
    func derived(_ purpose: String) -> String { HMAC.code(of: Array("\(purpose) \(text)".utf8), key: secret).hex }
    return (RefreshToken(session: session, own: derived("refresh")), UserToken.prefix + derived("access"))
  }
}
