import Blobs
import EmbeddedPostgres
import MediaProcess
import Platform
import Postgres
import Store

/// The exit statuses of the command line, with the numbers of sysexits.h where it has one.
enum ExitStatus: Int32, Sendable {
  case success = 0
  /// A check found a fault: rows and files of the store disagree, a hold had expired, `take5 doctor` found an error, or a
  /// run has items that were not made.
  case inconsistent = 1
  /// EX_USAGE: the arguments are wrong.
  case usage = 64
  /// EX_DATAERR: media were rejected, or the requested change is not possible in the present state.
  case rejected = 65
  /// EX_NOINPUT: an input does not exist or cannot be read.
  case inputMissing = 66
  /// EX_UNAVAILABLE: the service or the database cannot be reached.
  case unavailable = 69
  /// EX_SOFTWARE: a bug in take5.
  case `internal` = 70
  /// EX_IOERR: a file could not be read or written.
  case io = 74
  /// EX_CONFIG: the configuration is wrong, or the machine does not permit what an option requires.
  case configuration = 78
  /// The status that a shell reports for SIGINT: a signal ended the command before it was done.
  case interrupted = 130

  /// Each status with its meaning, for the help and the manual.
  static let meanings: [(status: ExitStatus, meaning: String)] = [
    (.success, "success"), (.inconsistent, "a check found a fault, or items of a run were not made"),
    (.usage, "usage error"),
    (.rejected, "media rejected or change not possible"), (.inputMissing, "input missing or not a store"),
    (.unavailable, "service or database unavailable"), (.internal, "internal error"), (.io, "input/output error"),
    (.configuration, "configuration wrong or sandbox not permitted"), (.interrupted, "interrupted by a signal"),
  ]
}

/// The reason why a command failed, and a hint for the user.
struct CommandFailure: Error, Sendable {
  let status: ExitStatus
  /// Nil if no reader is left to see it.
  let message: String?
  let remedy: String?

  init(_ status: ExitStatus, _ message: String, remedy: String? = nil) {
    self.init(status: status, message: message, remedy: remedy)
  }

  private init(status: ExitStatus, message: String?, remedy: String?) {
    self.status = status
    self.message = message
    self.remedy = remedy
  }

  /// The reader of standard output has closed it (EPIPE).
  static let closedOutput = CommandFailure(status: .io, message: nil, remedy: nil)

  /// A signal arrived before the command was done.
  static let interrupted = CommandFailure(.interrupted, "interrupted by a signal")

  /// The lines for standard error: the message, and the hint if there is one.
  var lines: [String] {
    guard let message else { return [] }
    return ["take5: \(Self.line(message))"] + (remedy.map { ["       \(Self.line($0))"] } ?? [])
  }

  /// Joins the lines of a library's message into one.
  static func line(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { line in
      line.drop { $0 == " " || $0 == "\t" }
    }.joined(separator: "; ")
  }
}

extension CommandFailure {
  private static let bugRemedy = "this is a bug in take5: please report it"

  /// Translates an error; an error of an unknown type counts as a bug.
  init(_ error: any Error) {
    switch error {
    case let failure as CommandFailure: self = failure
    case is CancellationError: self = .interrupted
    case let failure as MediaFailure: self.init(failure, writing: nil)
    case let error as PostgresError:
      self.init(.unavailable, "the database failed: \(error.message)", remedy: error.remedy)
    case let error as OutdatedSchema:
      self.init(
        .rejected, "the schema has version \(error.version), and this program migrates version 146 and later ones",
        remedy: "start take5 of commit 30b8c67a first: it migrates the schema of each version")
    case let error as EmbeddedPostgresError: self.init(.unavailable, error.message, remedy: error.remedy)
    case let error as BlobError:
      self.init(.io, "\(error)", remedy: "'take5 verify' checks whether the store is consistent")
    case let error as SystemError: self.init(.io, "\(error)")
    default: self.init(.internal, "\(error)", remedy: Self.bugRemedy)
    }
  }

  /// Translates an error that may follow from the cancellation of the command.
  init(cancellable error: any Error) {
    self = Task.isCancelled ? .interrupted : CommandFailure(error)
  }

  /// The same failure with one more sentence and one more remedy; unchanged if no reader is left to see them.
  func adding(_ text: String, remedy other: String) -> CommandFailure {
    guard let message else { return self }
    return CommandFailure(
      status, "\(message); \(text)", remedy: [remedy, other].compactMap(\.self).joined(separator: "; "))
  }

  /// Translates a failure of the media process that the media did not cause.
  ///
  /// - Parameter path: the output that was to be written.
  init(_ failure: MediaFailure, writing path: String? = nil) {
    switch failure.kind {
    case .cancelled: self = .interrupted
    case .outOfSpace:
      self.init(
        .io, "\(path ?? "the output") cannot be written: no space left on device",
        remedy: "free space on the device and try again")
    case .interrupted, .unavailable: self.init(.internal, failure.detail, remedy: "try again")
    default: self.init(.internal, failure.detail, remedy: Self.bugRemedy)
    }
  }
}
