import FoundationEssentials
import Model
import Store

/// An API key in `take5 keys list` and in the result of `take5 restore`.
struct KeyReport: Encodable {
  let id: Int64
  let name: String
  let scopes: [String]
  let createdAt: Date
  let revokedAt: Date?

  init(_ key: StoredKey) {
    id = key.id
    name = key.name
    scopes = key.scopes.map(\.rawValue).sorted()
    createdAt = key.createdAt
    revokedAt = key.revokedAt
  }

  /// The key as one line of text.
  var line: String {
    let end = revokedAt.map { "revoked \(JSON.text(of: $0))" } ?? "active"
    return "\(id)  \(name)  \(scopes.joined(separator: ","))  created \(JSON.text(of: createdAt))  \(end)"
  }
}
