import Crypto
import Model
import Postgres
import Queue

extension Asset {
  /// Reads a row of the statements `assets` and `asset`.
  init(_ row: Row) throws(PostgresError) {
    let role = try row.get("role", as: String.self)
    guard let role = Role(rawValue: role) else { throw PostgresError(.decoding, "there is no role \(role)") }
    guard let hash = SHA256Digest(bytes: try row.get("blob")) else {
      throw PostgresError(.decoding, "a blob's name is not a SHA-256")
    }
    self.init(
      id: try row.publicID("public_id"), role: role, type: try row.get("type"), bytes: try row.get("bytes"),
      sha256: hash.hex, width: try row.get("width"), height: try row.get("height"),
      duration: try row.get("duration"), thumbhash: try row.get("thumbhash"),
      place: try row.get("place"), color: try row.get("color"))
  }
}
