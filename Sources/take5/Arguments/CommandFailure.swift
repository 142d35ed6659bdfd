/// Why a command ends without doing what it was asked: what happened, and what the user can do about it.
struct CommandFailure: Error, Sendable {
  let status: ExitStatus
  /// Nil: nobody is there who would read it.
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

  /// Who read standard output has gone.
  static let closedOutput = CommandFailure(status: .io, message: nil, remedy: nil)

  /// A signal came before the command was done.
  static let interrupted = CommandFailure(.interrupted, "stopped by a signal before it was done")

  /// What it says on standard error: one line, and one of what helps.
  var lines: [String] {
    guard let message else { return [] }
    return ["take5: \(Self.line(message))"] + (remedy.map { ["       \(Self.line($0))"] } ?? [])
  }

  /// In one line what libraries say in several.
  private static func line(_ text: String) -> String {
    text.split(whereSeparator: \.isNewline).map { line in
      line.drop { $0 == " " || $0 == "\t" }
    }.joined(separator: "; ")
  }
}
