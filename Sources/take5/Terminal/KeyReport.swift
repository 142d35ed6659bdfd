import FoundationEssentials
import Model

/// An API key as an operator sees it.
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

  /// In one line.
  var line: String {
    let end = revokedAt.map { "revoked \(JSON.text(of: $0))" } ?? "active"
    return "\(id)  \(name)  \(scopes.joined(separator: ","))  made \(JSON.text(of: createdAt))  \(end)"
  }
}
