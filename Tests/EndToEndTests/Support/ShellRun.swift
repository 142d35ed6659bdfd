import Platform
import Take5Testing

/// One run of the command line through a shell, which sends its streams where a user may send them.
struct ShellRun: Sendable {
  /// 124 if it did not end within a minute.
  let status: Int32
  let output: String
  /// The lines on standard error.
  let errors: [String]

  /// Runs `take5` with these words.
  ///
  /// - Parameters:
  ///   - redirection: in the shell's words, `>/dev/full`.
  ///   - limit: what timeout(1) is told: after how long which signal is sent. With `--foreground` it is sent once.
  static func run(
    _ words: [String], _ redirection: String = "", limit: [String] = ["--kill-after=1", "60"],
    environment: [String: String] = [:], in folder: String
  ) async throws -> ShellRun {
    try await onThread("test-shell") { () throws in
      let output = try Descriptor(unnamedIn: "/tmp")
      let errors = try Descriptor(unnamedIn: "/tmp")
      var configuration = ChildProcess.Configuration(
        path: "/bin/sh",
        arguments: ["-c", "exec timeout \"$@\" \(redirection)", "sh"] + limit + [Take5Binary.path] + words)
      configuration.environment = environment.merging(["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"]) { ours, _ in ours
      }
      configuration.directory = folder
      configuration.descriptors = [nil, output.number, errors.number]
      let ending = try ChildProcess(configuration).wait()
      let text = String(decoding: try output.contents(), as: UTF8.self)
      let lines = String(decoding: try errors.contents(), as: UTF8.self).split(separator: "\n").map(String.init)
      guard case .exited(let status) = ending else { return ShellRun(status: 124, output: text, errors: lines) }
      return ShellRun(status: status, output: text, errors: lines)
    }
  }
}
