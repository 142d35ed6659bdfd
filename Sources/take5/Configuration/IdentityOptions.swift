import Crypto
import FoundationEssentials
import Kit
import Model
import Platform
import Rooms
import Telemetry

extension Option {
  /// The options of the users' credentials.
  static let users: [Option] = identity + [identityProviders, accounts, registrationCheck]

  /// The options of the app's own identity provider.
  fileprivate static let identity: [Option] = [jwtKeys, jwtIssuer, jwtAudience]

  fileprivate static let jwtKeys = Option(
    "--jwt-keys", "KEYS", .keySet, variable: "TAKE5_JWT_KEYS",
    help: "key set (JWKS) of the app's identity provider, a file or an https:// URL; its tokens then act as users")
  fileprivate static let jwtIssuer = Option(
    "--jwt-issuer", "TEXT", variable: "TAKE5_JWT_ISSUER",
    help: "issuer (iss) that tokens of the identity provider must have")
  fileprivate static let jwtAudience = Option(
    "--jwt-audience", "TEXT", variable: "TAKE5_JWT_AUDIENCE",
    help: "audience (aud) that tokens of the identity provider must have")
  fileprivate static let identityProviders = Option(
    "--identity-providers", "FILE", variable: "TAKE5_IDENTITY_PROVIDERS",
    help: "JSON list of further identity providers, each with issuer, audience, keys and prefix")

  static let accounts = Option(
    \.hasAccounts, "--accounts", "off|on",
    help: "whether users can register and sign in with a password, for an app without a back-end")
  fileprivate static let registrationCheck = Option(
    \.api.registrationCheck, "--registration-check", "URL", .url,
    help: "URL of a program of yours that decides on each registration, such as by a captcha or an invitation")
}

/// The identity providers whose tokens a service accepts.
struct IdentityOptions: Sendable {
  /// One of them.
  struct Provider: Sendable {
    let rules: IdentityRules
    let keys: KeySetLocation
  }

  /// The maximum number of providers.
  static let maxProviders = 8

  private(set) var providers: [Provider] = []

  /// No provider.
  init() {}

  /// Reads `--jwt-keys`, `--jwt-issuer` and `--jwt-audience`, which are one provider, and the file of
  /// `--identity-providers`. Tokens of any issuer, or for any audience, would let the users of other apps in.
  init(_ arguments: Arguments) throws(CommandFailure) {
    if let provider = try Self.provider(arguments) { providers.append(provider) }
    guard let path = arguments.value(Option.identityProviders.name) else { return }
    do throws(IdentityFileError) {
      providers += try Self.providers(in: path)
      try check()
    } catch {
      throw CommandFailure(
        .configuration, "\(Option.identityProviders.name): \(path) \(error.reason)",
        remedy: "name a JSON list of objects with the texts issuer, audience, keys and, if there are several, prefix")
    }
  }

  private static func provider(_ arguments: Arguments) throws(CommandFailure) -> Provider? {
    let given = Option.identity.compactMap { arguments.setting($0.name) }
    guard let first = given.first else { return nil }
    guard given.count == Option.identity.count, let keys = KeySetLocation(given[0].text) else {
      if let failure = arguments.failure(of: Option.jwtKeys.name) { throw failure }
      let missing = Option.identity.map(\.name).filter { arguments.setting($0) == nil }
      throw CommandFailure(
        first.source.status, "tokens of an identity provider also need \(missing.joined(separator: " and "))",
        remedy: "set all of \(Option.identity.map(\.name).joined(separator: ", ")), or none")
    }
    return Provider(rules: IdentityRules(issuer: given[1].text, audience: given[2].text), keys: keys)
  }

  /// Checks that each file of keys has some.
  func checkFiles() throws(CommandFailure) {
    for provider in providers {
      guard case .file(let path) = provider.keys else { continue }
      do { _ = try KeySet(json: provider.keys.load()) } catch {
        let reason = (error as? SystemError).map { "it cannot be read: \($0.reason)" } ?? "\(error)"
        throw CommandFailure(
          .configuration, "\(path) is not a key set that can be used: \(reason)",
          remedy: "name a JSON Web Key Set for the issuer \(provider.rules.issuer)")
      }
    }
  }

  /// Reads the key sets; status 78 if a file has none. A service whose identity provider cannot be reached starts, and
  /// refuses its tokens until it can.
  func providers(_ log: Logger) async throws -> IdentityProviders {
    let opened = providers.map { [log] provider in
      IdentityProvider(
        rules: provider.rules,
        onFailure: { reason in
          log.warning(
            "the key set of the identity provider could not be read",
            ["issuer": provider.rules.issuer, "error": reason])
        },
        load: { try provider.keys.load() })
    }
    let result = IdentityProviders(opened)
    await result.refresh()
    for (provider, opened) in zip(providers, opened) {
      guard case .file(let path) = provider.keys, !opened.hasKeys else { continue }
      throw CommandFailure(
        .configuration, "\(path) is not a key set that can be used",
        remedy: "name a JSON Web Key Set for the issuer \(provider.rules.issuer); the log has the reason")
    }
    return result
  }
}

/// Why a file of identity providers is refused, after its path.
private struct IdentityFileError: Error {
  let reason: String
}

extension IdentityOptions {
  private static let members: Set = ["issuer", "audience", "keys", "prefix"]
  private static let maxBytes = 64 << 10
  private static let maxPrefix = 50

  /// Reads a file. A member with another name is refused: a prefix that is written wrong would be none.
  private static func providers(in path: String) throws(IdentityFileError) -> [Provider] {
    let bytes: [UInt8]
    do throws(SystemError) { bytes = try Descriptor(reading: path).bytes(count: maxBytes + 1, at: 0) } catch {
      throw IdentityFileError(reason: "cannot be read: \(error.reason)")
    }
    guard bytes.count <= maxBytes else { throw IdentityFileError(reason: "is longer than \(maxBytes) bytes") }
    let list: [[String: String]]
    do { list = try JSONDecoder().decode([[String: String]].self, from: Data(bytes)) } catch {
      let place = JSON.syntaxFault(in: bytes).map { ": \($0)" } ?? ""
      throw IdentityFileError(reason: "is not a JSON list of objects with texts\(place)")
    }
    var providers: [Provider] = []
    for (index, object) in list.enumerated() {
      func failure(_ reason: String) -> IdentityFileError {
        IdentityFileError(reason: "is wrong: provider \(index + 1) \(reason)")
      }
      if let unknown = object.keys.filter({ !members.contains($0) }).min() {
        throw failure("has an unknown '\(unknown)'")
      }
      guard let issuer = object["issuer"], let audience = object["audience"], let location = object["keys"],
        !issuer.isEmpty, !audience.isEmpty
      else { throw failure("lacks issuer, audience or keys") }
      guard let keys = KeySetLocation(location) else {
        throw failure("has keys that \(OptionValues.keySet.problem(with: location) ?? "are no location")")
      }
      let prefix = object["prefix"] ?? ""
      guard prefix.utf8.count <= maxPrefix, prefix.utf8.allSatisfy({ 0x21...0x7e ~= $0 }) else {
        throw failure("has a prefix that is not of at most \(maxPrefix) visible ASCII characters")
      }
      providers.append(Provider(rules: IdentityRules(issuer: issuer, audience: audience, prefix: prefix), keys: keys))
    }
    return providers
  }

  /// Two providers with the same issuer would have the same tokens, and with the same prefix the same users.
  private func check() throws(IdentityFileError) {
    guard 1...Self.maxProviders ~= providers.count else {
      throw IdentityFileError(
        reason: "gives the service \(providers.count) identity providers instead of 1 to \(Self.maxProviders)")
    }
    for (name, texts) in [("issuer", providers.map(\.rules.issuer)), ("prefix", providers.map(\.rules.prefix))]
    where Set(texts).count < texts.count {
      throw IdentityFileError(reason: "gives the service two identity providers with the same \(name)")
    }
  }
}
