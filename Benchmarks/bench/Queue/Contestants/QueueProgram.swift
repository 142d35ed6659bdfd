import Glibc
internal import Platform

/// A contestant's program that runs; it ends with whoever holds it.
struct QueueProgram: ~Copyable {
  /// No step of a measurement takes that long.
  private static let timeout = 300

  private let command: Command
  private var output: OutputPipe
  private var child: ChildProcess

  /// The thread that calls must outlive it.
  init(_ command: Command) throws {
    var output = try OutputPipe()
    let child = try output.start(command)
    self.command = command
    self.output = output
    self.child = child
  }

  /// The next line that it prints.
  func answer() throws -> QueueAnswer {
    guard let line = try output.line(timeout: Self.timeout) else {
      throw BenchError("\(command.path) ended too early; what it said: \(command.log)", status: EX_SOFTWARE)
    }
    return try QueueAnswer(line: line)
  }

  /// Waits for its end, which must be of status 0.
  consuming func end() throws {
    while try output.line(timeout: Self.timeout) != nil {}
    try command.check(child.wait())
  }

  /// Runs a command that prints one line.
  static func answer(of command: Command) throws -> QueueAnswer {
    let program = try QueueProgram(command)
    let answer = try program.answer()
    try program.end()
    return answer
  }
}
