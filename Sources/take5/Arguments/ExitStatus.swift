/// How the command line ends, by sysexits.h where it has a number.
enum ExitStatus: Int32, Sendable {
  case done = 0
  /// What was looked at is not as it should be.
  case notWhole = 1
  /// EX_USAGE: the words of the command are wrong.
  case usage = 64
  /// EX_DATAERR: the media were rejected, or the command's question has a bad answer.
  case rejected = 65
  /// EX_NOINPUT: an input is missing or cannot be read.
  case inputMissing = 66
  /// EX_UNAVAILABLE: the service or the database does not answer.
  case unavailable = 69
  /// EX_SOFTWARE: a fault of ours.
  case `internal` = 70
  /// EX_IOERR: a file could not be written.
  case io = 74
  /// As a shell tells of SIGINT: stopped before what was waited for had happened.
  case interrupted = 130
}
