package import Model
package import Postgres

/// A job whose lease somebody holds.
package struct ClaimedJob: Sendable, Hashable {
  /// Inside the database.
  package let id: Int64
  package let publicID: PublicID
  /// Fences every write of this attempt.
  package let token: Int64
  package let queue: String
  package let kind: String
  /// The first is 1.
  package let attempt: Int
  package let maxAttempts: Int
  /// How often its worker was lost.
  package let lost: Int
  package let author: String?
  /// The hash of the definition.
  package let definition: [UInt8]?
  package let request: String?
  package let deadlineSeconds: Int
  /// A JSON object.
  package let arguments: [UInt8]

  init(_ row: Row) throws(PostgresError) {
    id = try row.get("id")
    publicID = try row.publicID("public_id")
    token = try row.get("token")
    queue = try row.get("queue")
    kind = try row.get("kind")
    attempt = try row.get("attempt")
    maxAttempts = try row.get("max_attempts")
    lost = try row.get("lost")
    author = try row.get("author")
    definition = try row.get("definition")
    request = try row.get("request")
    deadlineSeconds = try row.get("deadline_seconds")
    arguments = Array(try row.get("arguments", as: String.self).utf8)
  }
}

extension Row {
  /// Reads a column of type `uuid`.
  package func publicID(_ column: String) throws(PostgresError) -> PublicID {
    let text = try get(column, as: String.self)
    guard let id = PublicID(text) else { throw PostgresError(.decoding, "column \(column) holds no UUID") }
    return id
  }
}
