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
  /// The name of the limit under which it runs.
  package let limit: String?
  /// Its place in the order of claims.
  package let rank: Int64
  /// How long it could have run before it was claimed, by the server's clock.
  package let waitedSeconds: Double
  /// How long ago something that is not its fault kept it from being done for the first time; nil: nothing did.
  package let postponedSeconds: Double?
  // By place, in the order in which all statements of claims return them: a name would be looked up in each row.
  init(_ row: Row) throws(PostgresError) {
    id = try row.get(0)
    publicID = try row.get(1, as: RowID.self).id
    token = try row.get(2)
    queue = try row.get(3)
    kind = try row.get(4)
    attempt = try row.get(5)
    maxAttempts = try row.get(6)
    lost = try row.get(7)
    author = try row.get(8)
    definition = try row.get(9)
    request = try row.get(10)
    deadlineSeconds = try row.get(11)
    arguments = try row.get(12, as: RowJSON.self).text
    limit = try row.get(13)
    rank = try row.get(14)
    let (couldRun, claimed): (Int64, Int64) = (try row.get(15), try row.get(16))
    waitedSeconds = Double(max(0, claimed - couldRun)) / 1e6
    postponedSeconds = try row.get(17)
  }
}

extension ClaimedJob {
  /// Whether a claim under this lease gave it.
  package func isHeld(under lease: Lease) -> Bool { token == lease.number ^ id }
}

extension Row {
  /// Reads a column of type `uuid`.
  package func publicID(_ column: String) throws(PostgresError) -> PublicID { try get(column, as: RowID.self).id }
}

/// A column of type `uuid`, read from its bytes.
private struct RowID: ColumnValue {
  let id: PublicID

  init?(_ cell: Cell) {
    guard let words = cell.uuid else { return nil }
    id = PublicID(high: words.high, low: words.low)
  }
}

/// A column of type `jsonb`, read as the bytes of its text.
private struct RowJSON: ColumnValue {
  let text: [UInt8]

  init?(_ cell: Cell) {
    guard let text = cell.jsonText else { return nil }
    self.text = text
  }
}
