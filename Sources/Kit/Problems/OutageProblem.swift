internal import Blobs
package import HTTPServer
internal import Model
internal import Platform
internal import Postgres

/// Converts outages into problems: an unavailable or read-only database, and unavailable or full storage.
package enum OutageProblem {
  private static let soon: HeaderFields = ["Retry-After": "5"]

  /// Returns the problem for an error, with the error as its cause, or nil if the error is not an outage. A conflict of transactions
  /// and a client that uses its share have no cause to look for: the pool has logged the one, and the other is the client's.
  package static func problem(for error: any Error) -> Problem? {
    var problem = kind(of: error)
    let ofDatabase = error as? PostgresError
    if ofDatabase?.isConflict != true && ofDatabase?.isShareUsed != true { problem?.cause = "\(error)" }
    return problem
  }

  /// The problem of a request that has waited for the disk for too long.
  static let hangingDisk = problem(for: BlobError.unavailable("a call to the disk of the blobs has not ended in time"))

  private static func kind(of error: any Error) -> Problem? {
    switch error {
    case let error as PostgresError where error.isUnavailable || error.isConnectionLost:
      ProblemKind.databaseUnavailable.problem("The service cannot connect to its database.", headers: soon)
    case let error as PostgresError where error.isReadOnly:
      ProblemKind.databaseReadOnly.problem("The database does not accept writes.", headers: soon)
    case let error as PostgresError where error.isExhausted:
      ProblemKind.overloaded.problem("All connections to the database are in use.", headers: soon)
    case let error as PostgresError where error.isShareUsed:
      ProblemKind.tooManyRequests.problem(
        "The client asks for more at the same time than its share of the connections to the database.", headers: soon)
    case let error as PostgresError where error.isConflict:
      ProblemKind.overloaded.problem("Too many requests change the same at the same time.", headers: soon)
    case let error as PostgresError where error.isCanceled:
      ProblemKind.databaseUnavailable.problem("A statement exceeded the statement timeout.", headers: soon)
    case let error as PostgresError where error.isLockTimeout:
      ProblemKind.databaseUnavailable.problem("Another session has locked what the request needs.", headers: soon)
    // disk_full (PostgreSQL, appendix A): the volume of the database is full, even if the one of the blobs is not.
    case let error as PostgresError where error.sqlState == "53100": full
    case let error as PostgresError where error.isTransient:
      ProblemKind.databaseUnavailable.problem("The database failed with a temporary error.", headers: soon)
    case BlobError.system(let error) where error.isOutOfSpace: full
    case BlobError.unavailable:
      ProblemKind.storageUnavailable.problem("The storage is missing, not mounted, or does not answer.", headers: soon)
    case BlobError.refused(let code, _):
      ProblemKind.storageUnavailable.problem(
        "The object store refuses the request (\(code)): the operator must change its keys or settings.", headers: soon)
    case BlobError.system:
      ProblemKind.storageUnavailable.problem("The storage cannot be read or written.", headers: soon)
    default: nil
    }
  }

  private static var full: Problem {
    ProblemKind.storageFull.problem("No space is left on the storage.", headers: soon)
  }
}

extension MultipartError {
  /// The problem that is returned for this error.
  package var problem: Problem {
    switch self {
    case .notMultipart: ProblemKind.notMultipart.problem("\(self)".sentence)
    case .partTooLarge(let name, let limit):
      ProblemKind.partTooLarge.problem(
        "The part \(name) is longer than \(limit) bytes.",
        reasons: [
          Reason(
            .tooLarge, input: InputName(rawValue: name) ?? .photo,
            finding: "the file is longer than the \(limit) bytes allowed", remedy: .exportSmaller)
        ])
    case .tooManyParts: ProblemKind.unknownPart.problem("\(self)".sentence)
    default: ProblemKind.malformedForm.problem("\(self)".sentence)
    }
  }
}

extension ProblemKind {
  /// Returns a problem for a part of a form that this kind of submission does not have.
  package static func unknown(part name: String) -> Problem {
    unknownPart.problem("The form has an unknown part '\(name)'.", errors: [FieldError(name, "is unknown")])
  }

  /// Returns a problem for a part of a form that is sent more than once.
  package static func repeated(part name: String) -> Problem {
    repeatedPart.problem("The form has more than one part '\(name)'.", errors: [FieldError(name, "is repeated")])
  }

  /// Returns a problem for parts that a form lacks.
  package static func missing(parts names: [String]) -> Problem {
    let names = names.sorted()
    return missingPart.problem(
      "The form lacks \(names.joined(separator: " and ")).", errors: names.map { FieldError($0, "is required") })
  }
}

extension String {
  /// The text with an initial capital letter and a full stop.
  fileprivate var sentence: String { prefix(1).uppercased() + dropFirst() + "." }
}
