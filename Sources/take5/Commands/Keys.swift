import Crypto
import FoundationEssentials
import Kit
import Model
import Postgres
import Rooms
import Store

extension Subcommand {
  static let keysCreate = Subcommand(
    "keys create", abstract: "Create an API key; it is printed once and stored as a hash.", operands: ["NAME"],
    options: [
      Option(
        "--scopes", "SCOPES", .list(of: Scope.self), default: "submit,read",
        help: "comma-separated list of \(Scope.allCases.map(\.rawValue).joined(separator: ", "))")
    ] + Option.storeAccess,
    example: "take5 keys create app-backend --scopes submit,read"
  ) { arguments in
    let name = arguments.operands[0]
    guard name.contains(where: { !$0.isWhitespace }) else {
      throw CommandFailure(
        .usage, "the name of the key is empty", remedy: "pass a name, such as the name of the client that uses the key")
    }
    let scopes = try scopes(arguments)
    let key = newKey()
    let hash = SHA256.digest(of: Array(key.utf8)).bytes
    let isJSON = arguments.has(Option.json.name)
    try await DatabaseAccess.use(arguments) { pool in
      try await pool.transaction { session in
        let id = try Keys.insert(named: name, hash: hash, scopes: scopes, session)
        // Printed before the commit: if standard output fails, the key is not stored.
        try Console.print(
          isJSON
            ? try JSON.text(CreatedKey(id: id, name: name, key: key))
            : "key \(id) for \(name): \(key)\nThe key is not shown again.")
      }
    }
    return .success
  }

  static let keysList = Subcommand(
    "keys list", abstract: "List the API keys, revoked ones included.", options: Option.storeAccess,
    example: "take5 keys list"
  ) { arguments in
    let keys = try await DatabaseAccess.use(arguments) { pool in
      return try await pool.run { session in try Keys.list(session) }
    }
    for key in keys {
      let report = KeyReport(key)
      try Console.print(arguments.has("--json") ? try JSON.text(report) : report.line)
    }
    if keys.isEmpty, !arguments.has("--json") { try Console.print("no keys") }
    return .success
  }

  static let keysRevoke = Subcommand(
    "keys revoke", abstract: "Revoke an API key by its number or its name; services refuse it within seconds.",
    operands: ["KEY"], options: Option.storeAccess, example: "take5 keys revoke app-backend"
  ) { arguments in
    let operand = arguments.operands[0]
    let id = try await DatabaseAccess.use(arguments) { pool in
      return try await pool.transaction { session in
        let key = try key(operand, among: try Keys.list(session))
        _ = try Keys.revoke(key.id, session)
        return key.id
      }
    }
    try Console.print(arguments.has("--json") ? "{\"id\":\(id),\"revoked\":true}" : "key \(id) is revoked")
    return .success
  }

  /// The key with a number or a name. Several keys may share a name: the valid one among them.
  private static func key(_ operand: String, among keys: [StoredKey]) throws(CommandFailure) -> StoredKey {
    if let number = Int64(operand), let key = keys.first(where: { $0.id == number }) { return key }
    let named = keys.filter { $0.name == operand }
    let valid = named.filter { $0.revokedAt == nil }
    guard valid.count < 2 else {
      for key in valid { Console.note(KeyReport(key).line) }
      throw CommandFailure(
        .usage, "\(valid.count) valid keys have the name '\(operand)'", remedy: "revoke one of them by its number")
    }
    guard let key = valid.first ?? named.last else {
      throw CommandFailure(.inputMissing, "no key has the number or the name '\(operand)'", remedy: keysRemedy)
    }
    return key
  }

  static let keysRotateSigning = Subcommand(
    "keys rotate-signing",
    abstract: "Sign media URLs with a new secret, so that earlier URLs become invalid; it replaces no API key.",
    options: [
      Option("--keep", help: "keep URLs that were signed before valid until they expire"), Confirmation.option,
    ] + Option.storeAccess,
    example: "take5 keys rotate-signing --keep"
  ) { arguments in
    let revoking = !arguments.has("--keep")
    if revoking {
      try Confirmation.require(
        "all media URLs that were signed until now become invalid at once, and apps must get new ones; "
          + "API keys stay as they are", arguments)
    }
    let seconds = revoking ? 0 : Double(MediaURLs.maxLifetime)
    try await DatabaseAccess.use(arguments) { pool in
      try await pool.transaction { session in try Keys.rotateSigningKeys(keepingOld: seconds, session) }
    }
    try Console.print(
      arguments.has("--json")
        ? "{\"revoked\":\(revoking)}"
        : "media URLs are signed with a new secret; earlier URLs "
          + (revoking ? "are invalid" : "stay valid until they expire")
    )
    return .success
  }

  private static let keysRemedy = "'take5 keys list' lists the keys"

  /// A key of 256 random bits with a prefix that identifies it as a key of take5.
  private static func newKey() -> String {
    var random = SystemRandomNumberGenerator()
    let parts = (0..<4).map { _ in random.next() as UInt64 }
    return "t5_" + parts.map { String($0, radix: 36) }.joined()
  }

  private static func scopes(_ arguments: Arguments) throws(CommandFailure) -> Set<Scope> {
    var scopes: Set<Scope> = []
    for part in (arguments.value("--scopes") ?? "").split(separator: ",") {
      guard let scope = Scope(rawValue: String(part)) else {
        throw CommandFailure(
          .usage, "unknown scope '\(part)'",
          remedy: "the scopes are \(Scope.allCases.map(\.rawValue).joined(separator: ","))")
      }
      scopes.insert(scope)
    }
    guard !scopes.isEmpty else { throw CommandFailure(.usage, "--scopes is empty", remedy: "name at least one scope") }
    return scopes
  }
}

/// A new key, the only output that contains the key itself.
private struct CreatedKey: Encodable {
  let id: Int64
  let name: String
  let key: String
}
