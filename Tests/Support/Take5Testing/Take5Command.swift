import Platform

/// One run of the command line: its words in, what it said and how it ended out.
package struct Take5Command: Sendable {
  /// The exit status; nil if a signal ended it.
  package let status: Int32?
  package let output: String
  package let errors: String

  /// Runs `take5` with these words and waits for its end.
  ///
  /// - Parameters:
  ///   - environment: nothing else is set.
  ///   - folder: the current folder; the root otherwise, because no verb may depend on it.
  package static func run(
    _ words: [String], environment: [String: String] = [:], in folder: String = "/"
  ) async throws -> Take5Command {
    try await onThread("take5-command") { () throws in
      let output = try Pipe()
      let errors = try Descriptor(unnamedIn: "/tmp")
      var configuration = ChildProcess.Configuration(path: Take5Binary.path, arguments: words)
      configuration.environment = environment
      configuration.directory = folder
      configuration.descriptors = [nil, output.writing.number, errors.number]
      let child = try ChildProcess(configuration)
      let said = read(output.keepReading())
      let ending = child.wait()
      let complaints = String(decoding: try errors.contents(), as: UTF8.self)
      guard case .exited(let status) = ending else {
        return Take5Command(status: nil, output: said, errors: complaints)
      }
      return Take5Command(status: status, output: said, errors: complaints)
    }
  }
}
