package import Model
package import Postgres

/// A claimed job: what the holder of its lease needs to perform it.
package struct ClaimedJob: Sendable, Hashable {
  /// The primary key in the database.
  package let id: Int64
  package let publicID: PublicID
  /// Fences every write of this attempt.
  package let token: Int64
  package let queue: String
  package let kind: String
  /// The number of the attempt, from 1.
  package let attempt: Int
  package let maxAttempts: Int
  /// The number of times that the job was taken from its worker.
  package let lost: Int
  package let author: String?
  /// The hash of the definition.
  package let definition: [UInt8]?
  package let request: String?
  /// The traceparent of the request that submitted the job; nil if it was not traced.
  package let trace: String?
  package let deadlineSeconds: Int
  /// A JSON object.
  package let arguments: [UInt8]
  /// The name of the limit under which the job runs.
  package let limit: String?
  package let rank: Int64
  /// The time from when the job became available to its claim, by the server's clock.
  package let waitedSeconds: Double
  /// The time from the submission of the job to its claim, by the server's clock.
  package let ageSeconds: Double

  // By column index, in the order of the fragments claimed_columns and job_columns: libpq looks a name up for each row.
  init(_ row: Row) throws(PostgresError) {
    token = try row.get(0)
    attempt = try row.get(1)
    lost = try row.get(2)
    deadlineSeconds = try row.get(3)
    limit = try row.get(4)
    rank = try row.get(5)
    let (couldRun, claimed, created): (Int64, Int64, Int64) = (try row.get(6), try row.get(7), try row.get(8))
    // In Double: the times of one row may be any.
    waitedSeconds = max(0, Double(claimed) - Double(couldRun)) / 1e6
    ageSeconds = max(0, Double(claimed) - Double(created)) / 1e6
    id = try row.get(9)
    publicID = try row.get(10, as: RowID.self).id
    queue = try row.get(11)
    kind = try row.get(12)
    maxAttempts = try row.get(13)
    author = try row.get(14)
    definition = try row.get(15)
    request = try row.get(16)
    arguments = try row.get(17, as: RowJSON.self).text
    trace = try row.get(18)
  }

  /// Whether the claim with this number returned the job.
  package func belongs(to claim: ClaimNumber) -> Bool { token == claim.value ^ id }
}

/// The random number of one claim, from which the tokens of its jobs are derived.
///
/// The worker chooses it, so that the same number is never used twice, even after a crash or a failover of the
/// database, and so that the jobs of a claim whose reply was lost can be looked up.
package struct ClaimNumber: Sendable, Hashable {
  /// 63 random bits: never negative.
  let value: Int64

  /// A new random number.
  package init() { value = .random(in: 1 ... .max) }
}

/// The error of a write whose token is not the job's any more, or which would give a job that is to be cancelled a further
/// attempt: the caller's transaction must roll back.
package struct LeaseLost: Error, Sendable, Hashable, CustomStringConvertible {
  /// The primary key of the job.
  package let job: Int64

  package var description: String { "the lease of job \(job) was lost" }
}

/// The outcome with which a job ends.
package enum Completion: String, Sendable {
  /// The verdict on its media is accepted.
  case accepted = "a"
  /// The verdict on its media is rejected.
  case rejected = "r"
  case cancelled = "c"
}

extension Row {
  /// Reads a column of type `uuid`.
  package func publicID(_ column: String) throws(PostgresError) -> PublicID { try get(column, as: RowID.self).id }
}

/// A column of type `uuid`, read from its binary form.
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
