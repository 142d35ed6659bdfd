import Glibc
import Platform

/// The result of one run of `take5` or of another program.
package struct Take5Command: Sendable {
  /// The exit status; nil if a signal ended it.
  package let status: Int32?
  package let output: String
  package let errors: String

  /// Runs a program with arguments and waits until it exits.
  ///
  /// - Parameters:
  ///   - environment: the complete environment.
  ///   - folder: the current directory; `/` by default, because no command may depend on it.
  package static func run(
    _ arguments: [String], program: String = Take5Binary.path, environment: [String: String] = [:],
    in folder: String = "/"
  ) async throws -> Take5Command {
    try await onThread("take5-command") { () throws in
      let output = try Pipe()
      let errors = try Descriptor(unnamedIn: "/tmp")
      var configuration = ChildProcess.Configuration(path: program, arguments: arguments)
      configuration.environment = environment
      configuration.directory = folder
      configuration.descriptors = [nil, output.writing.number, errors.number]
      let child = try ChildProcess(configuration)
      let outputText = read(output.takeReadingEnd())
      let ending = child.wait()
      let errorText = String(decoding: try errors.contents(), as: UTF8.self)
      guard case .exited(let status) = ending else {
        return Take5Command(status: nil, output: outputText, errors: errorText)
      }
      return Take5Command(status: status, output: outputText, errors: errorText)
    }
  }
}

/// The programs under test, in the build directory of the tests.
package enum Take5Binary {
  /// The path of `take5`.
  package static let path = "\(folder)/take5"
  /// The path of `take5-media`.
  package static let mediaPath = "\(folder)/take5-media"

  private static let folder: String = {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    let runner = String(decoding: buffer.prefix(max(0, count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return String(runner[..<(runner.lastIndex(of: "/") ?? runner.startIndex)])
  }()
}

/// A pipe whose writing end is passed to a child process.
struct Pipe: ~Copyable {
  let reading: Descriptor
  let writing: Descriptor

  init() throws(SystemError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SystemError(call: "pipe") }
    // A child process inherits only the descriptors that are passed to it explicitly.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    reading = Descriptor(owning: ends[0])
    writing = Descriptor(owning: ends[1])
  }

  /// Closes the writing end, of which the child has a duplicate, and returns the reading end.
  consuming func takeReadingEnd() -> Descriptor { reading }
}

/// Reads until the end of the file or, with `line`, until the end of the first line.
func read(_ descriptor: borrowing Descriptor, line: Bool = false) -> String {
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: line ? 1 : 1 << 16)
  // Ends: with the last process that has the pipe.
  while true {
    let count = Glibc.read(descriptor.number, &chunk, chunk.count)
    if count < 0 && errno == EINTR { continue }
    guard count > 0 else { break }
    bytes += chunk.prefix(count)
    if line && bytes.last == UInt8(ascii: "\n") { break }
  }
  return String(decoding: bytes, as: UTF8.self)
}
