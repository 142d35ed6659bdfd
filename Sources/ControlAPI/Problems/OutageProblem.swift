internal import Blobs
internal import HTTPServer
internal import Platform
internal import Postgres

/// What the outside world does to a request: the database is away, or takes no writes, the disk is full.
enum OutageProblem {
  private static let soon: HeaderFields = ["Retry-After": "5"]

  /// The problem that an error is, or nil when it is none of these.
  static func problem(for error: any Error) -> Problem? {
    switch error {
    case let error as PostgresError where error.isUnavailable || error.isConnectionLost:
      ProblemKind.databaseUnavailable.problem("The service cannot reach its database just now.", headers: soon)
    case let error as PostgresError where error.isReadOnly:
      ProblemKind.databaseReadOnly.problem("The database takes no writes just now.", headers: soon)
    case let error as PostgresError where error.isExhausted:
      ProblemKind.overloaded.problem("All connections to the database are in use just now.", headers: soon)
    case let error as PostgresError where error.isCanceled:
      ProblemKind.databaseUnavailable.problem("The database is too slow just now.", headers: soon)
    // disk_full (PostgreSQL, appendix A): there is room for the clips, but not for their rows.
    case let error as PostgresError where error.sqlState == "53100": full
    case let error as PostgresError where error.isTransient:
      ProblemKind.databaseUnavailable.problem("The database could not do it just now.", headers: soon)
    case BlobError.system(let error) where error.isOutOfSpace: full
    case BlobError.away: ProblemKind.storageUnavailable.problem("The storage is not there just now.", headers: soon)
    case BlobError.system:
      ProblemKind.storageUnavailable.problem("The clips could not be written.", headers: soon)
    default: nil
    }
  }

  private static var full: Problem {
    ProblemKind.storageFull.problem("There is no room for the clips.", headers: soon)
  }
}
