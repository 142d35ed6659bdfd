import ControlAPI
import Crypto
import Model
import Postgres
import Store

extension Subcommand {
  private static let access: [Option] = [.data, .database, .pooling, .json]

  static let keysCreate = Subcommand(
    "keys create", abstract: "Make an API key; it is shown once and stored as its hash.", operands: ["NAME"],
    options: [
      Option(
        "--scopes", "SCOPES", default: "submit,read", help: "what it admits to: submit, read, change, delete, admin")
    ] + access,
    example: "take5 keys create app-backend --scopes submit,read"
  ) { arguments in
    let name = arguments.operands[0]
    guard name.contains(where: { !$0.isWhitespace }) else {
      throw CommandFailure(.usage, "a key needs a name", remedy: "name it after who is to have it")
    }
    let scopes = try scopes(arguments)
    let key = newKey()
    let hash = SHA256.digest(of: Array(key.utf8)).bytes
    let isJSON = arguments.has(Option.json.name)
    try await DatabaseAccess.use(arguments) { pool in
      let store = Store(blobs: ClosedBlobStore())
      try await pool.transaction { session in
        let id = try store.keep(keyNamed: name, hash: hash, scopes: scopes, session)
        // Before it is stored for good: a key that nobody has seen is no key.
        try Console.print(
          isJSON
            ? try JSON.text(CreatedKey(id: id, name: name, key: key))
            : "key \(id) for \(name): \(key)\nIt is not shown again.")
      }
    }
    return .done
  }

  static let keysList = Subcommand(
    "keys list", abstract: "List the API keys, revoked ones included.", options: access, example: "take5 keys list"
  ) { arguments in
    let keys = try await DatabaseAccess.use(arguments) { pool in
      let store = Store(blobs: ClosedBlobStore())
      return try await pool.run { session in try store.apiKeys(session) }
    }
    for key in keys {
      let report = KeyReport(key)
      try Console.print(arguments.has("--json") ? try JSON.text(report) : report.line)
    }
    if keys.isEmpty, !arguments.has("--json") { try Console.print("no key yet") }
    return .done
  }

  static let keysRevoke = Subcommand(
    "keys revoke", abstract: "Revoke an API key; within seconds it admits to nothing.", operands: ["NUMBER"],
    options: access, example: "take5 keys revoke 3"
  ) { arguments in
    guard let id = Int64(arguments.operands[0]) else {
      throw CommandFailure(.usage, "'\(arguments.operands[0])' is no key's number", remedy: keysRemedy)
    }
    let known = try await DatabaseAccess.use(arguments) { pool in
      let store = Store(blobs: ClosedBlobStore())
      return try await pool.transaction { session in
        _ = try store.revoke(key: id, session)
        return try store.apiKeys(session).contains { $0.id == id }
      }
    }
    guard known else { throw CommandFailure(.inputMissing, "there is no key \(id)", remedy: keysRemedy) }
    try Console.print(arguments.has("--json") ? "{\"id\":\(id),\"revoked\":true}" : "key \(id) is revoked")
    return .done
  }

  static let keysRotate = Subcommand(
    "keys rotate", abstract: "Sign media URLs with a new secret; those signed before are worth nothing any more.",
    options: [Option("--keep", help: "let URLs that were signed before be good until they expire")] + access,
    example: "take5 keys rotate"
  ) { arguments in
    let revoking = !arguments.has("--keep")
    let seconds = revoking ? 0 : Double(MediaURLs.lifetime)
    try await DatabaseAccess.use(arguments) { pool in
      let store = Store(blobs: ClosedBlobStore())
      try await pool.transaction { session in try store.rotateSigningKeys(keepingOld: seconds, session) }
    }
    try Console.print(
      arguments.has("--json")
        ? "{\"revoked\":\(revoking)}"
        : "media URLs are signed anew; those before \(revoking ? "are revoked" : "stay good until they expire")")
    return .done
  }

  private static let keysRemedy = "'take5 keys list' shows the numbers"

  /// 256 random bits that say what they are.
  private static func newKey() -> String {
    var random = SystemRandomNumberGenerator()
    let words = (0..<4).map { _ in random.next() as UInt64 }
    return "t5_" + words.map { String($0, radix: 36) }.joined()
  }

  private static func scopes(_ arguments: Arguments) throws(CommandFailure) -> Set<Scope> {
    var scopes: Set<Scope> = []
    for word in (arguments.value("--scopes") ?? "").split(separator: ",") {
      guard let scope = Scope(rawValue: String(word)) else {
        throw CommandFailure(
          .usage, "there is no scope '\(word)'",
          remedy: "name some of \(Scope.allCases.map(\.rawValue).joined(separator: ","))")
      }
      scopes.insert(scope)
    }
    guard !scopes.isEmpty else { throw CommandFailure(.usage, "a key without a scope admits to nothing") }
    return scopes
  }
}

/// A key that was made, the only time that it is told.
private struct CreatedKey: Encodable {
  let id: Int64
  let name: String
  let key: String
}
