import Crypto
import Rooms
import Telemetry

extension Option {
  /// The options of the users' credentials.
  static let users: [Option] = identity + [accounts]

  /// The options of the app's own identity provider.
  fileprivate static let identity: [Option] = [jwtKeys, jwtIssuer, jwtAudience]

  fileprivate static let jwtKeys = Option(
    "--jwt-keys", "KEYS", .keySet, variable: "TAKE5_JWT_KEYS",
    help: "key set (JWKS) of the app's identity provider, whose tokens then act as users: a file, or an https:// URL")
  fileprivate static let jwtIssuer = Option(
    "--jwt-issuer", "TEXT", variable: "TAKE5_JWT_ISSUER",
    help: "issuer (iss) that tokens of the identity provider must have")
  fileprivate static let jwtAudience = Option(
    "--jwt-audience", "TEXT", variable: "TAKE5_JWT_AUDIENCE",
    help: "audience (aud) that tokens of the identity provider must have")

  static let accounts = Option(
    \.hasAccounts, "--accounts", "off|on",
    help: "whether users can register and sign in with a password, for an app without a back-end")
}

/// The identity provider whose tokens a service accepts.
struct IdentityOptions: Sendable {
  let rules: IdentityRules
  let keys: KeySetLocation

  /// Reads `--jwt-keys`, `--jwt-issuer` and `--jwt-audience`; nil if none is given. Tokens of any issuer, or for any
  /// audience, would let the users of other apps in.
  init?(_ arguments: Arguments) throws(CommandFailure) {
    let given = Option.identity.compactMap { arguments.setting($0.name) }
    guard let first = given.first else { return nil }
    guard given.count == Option.identity.count, let keys = KeySetLocation(given[0].text) else {
      if let failure = arguments.failure(of: Option.jwtKeys.name) { throw failure }
      let missing = Option.identity.map(\.name).filter { arguments.setting($0) == nil }
      throw CommandFailure(
        first.source.status, "tokens of an identity provider also need \(missing.joined(separator: " and "))",
        remedy: "set all of \(Option.identity.map(\.name).joined(separator: ", ")), or none")
    }
    self.keys = keys
    rules = IdentityRules(issuer: given[1].text, audience: given[2].text)
  }

  /// Reads the key set; status 78 if a file has none. A service whose identity provider cannot be reached starts, and
  /// refuses its tokens until it can.
  func provider(_ log: Logger) async throws -> IdentityProvider {
    let keys = keys
    let provider = IdentityProvider(
      rules: rules,
      onFailure: { log.warning("the key set of the identity provider could not be read", ["error": $0]) },
      load: { try keys.load() })
    await provider.refresh()
    if case .file(let path) = keys, !provider.hasKeys {
      throw CommandFailure(
        .configuration, "\(path) is not a key set that can be used",
        remedy: "name a JSON Web Key Set with --jwt-keys; the log has the reason")
    }
    return provider
  }
}
