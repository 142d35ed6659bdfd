import Glibc
internal import Platform

/// A program with its arguments, and the file that takes what it says.
struct Command: Sendable {
  let path: String
  let arguments: [String]
  /// Takes standard output and standard error.
  let log: String
  /// Beside PATH.
  var environment: [String: String] = [:]

  /// Runs it to its end, which must be of status 0.
  func run() throws {
    let child = try start()
    try check(child.wait())
  }

  /// Runs it and returns what it said.
  func output() throws -> String {
    try run()
    return String(decoding: try Descriptor(reading: log).contents(), as: UTF8.self)
  }

  /// Starts it; the thread that calls must outlive it.
  ///
  /// - Parameter output: takes standard output instead of the log.
  func start(output: Int32? = nil) throws -> ChildProcess {
    let log = try Descriptor(writing: log, replacing: true)
    var configuration = ChildProcess.Configuration(path: path, arguments: arguments)
    configuration.descriptors = [nil, output ?? log.number, log.number]
    configuration.environment = environment
    configuration.environment["PATH"] = getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin"
    return try ChildProcess(configuration)
  }

  /// Throws unless it ended well.
  func check(_ ending: ChildProcess.Ending) throws {
    guard ending == .exited(0) else { throw BenchError("\(path) ended with \(ending); what it said: \(log)") }
  }
}
