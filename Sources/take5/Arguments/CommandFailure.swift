/// Why a command ends without doing what it was asked: what happened, and what the user can do about it.
struct CommandFailure: Error, Sendable {
  let status: ExitStatus
  let message: String
  let remedy: String?

  init(_ status: ExitStatus, _ message: String, remedy: String? = nil) {
    self.status = status
    self.message = message
    self.remedy = remedy
  }
}
