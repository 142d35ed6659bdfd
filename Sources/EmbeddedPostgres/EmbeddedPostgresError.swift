import Glibc
package import Platform

/// Why the private PostgreSQL cannot serve, and what helps.
package struct EmbeddedPostgresError: Error, Sendable, CustomStringConvertible {
  package let message: String
  package let remedy: String?
  /// Whether the data folder holds no database, and none was to be made.
  package let isMissing: Bool

  package init(_ message: String, remedy: String? = nil, isMissing: Bool = false) {
    self.message = message
    self.remedy = remedy
    self.isMissing = isMissing
  }

  package init(_ error: SystemError) {
    let remedy: String? =
      switch error.code {
      case ENOSPC, EDQUOT: "There is no room left: make some, or choose another folder with --data"
      case EROFS: "The file system can only be read: mount it for writing, or choose another folder with --data"
      case EACCES, EPERM: "Run as the user who made the data folder, or choose another one with --data"
      case EMFILE, ENFILE: "Too many files are open: raise the limit of open files (ulimit -n)"
      default: nil
      }
    self.init("the data folder of PostgreSQL cannot be used (\(error))", remedy: remedy)
  }

  /// There is nothing where a database was expected.
  static func missing(in folder: String) -> EmbeddedPostgresError {
    EmbeddedPostgresError("there is no store in \(folder)", isMissing: true)
  }

  /// The error itself if it is one of these, else what it says.
  init(causedBy error: any Error) {
    switch error {
    case let error as EmbeddedPostgresError: self = error
    case let error as SystemError: self.init(error)
    default: self.init("\(error)")
    }
  }

  package var description: String { remedy.map { "\(message). \($0)" } ?? message }
}
