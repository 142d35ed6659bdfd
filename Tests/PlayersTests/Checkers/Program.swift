import Glibc
import Platform

/// The result of one run of an installed program.
struct Program: Sendable {
  /// The exit status; nil if a signal ended the program.
  let status: Int32?
  let output: String
  /// The lines on standard error.
  var errors: [String]

  /// Runs a program and waits for its end.
  ///
  /// - Parameters:
  ///   - seconds: the timeout; a decoder that hangs is a finding.
  ///   - started: receives the process id.
  static func run(
    _ name: String, _ arguments: [String], environment: [String: String] = [:], seconds: Int = 120,
    started: @escaping @Sendable (Int32) -> Void = { _ in }
  ) async throws -> Program {
    try await onThread("player") { () throws in
      let output = try Descriptor(unnamedIn: "/tmp")
      let errors = try Descriptor(unnamedIn: "/tmp")
      var configuration = ChildProcess.Configuration(
        path: "/usr/bin/timeout", arguments: ["--kill-after=5", "\(seconds)", name] + arguments)
      // The browser's sandbox needs a setuid program.
      configuration.noNewPrivileges = false
      for variable in ["PATH", "HOME", "USER"] {
        if let value = getenv(variable) { configuration.environment[variable] = String(cString: value) }
      }
      configuration.environment["LC_ALL"] = "C.UTF-8"
      configuration.environment.merge(environment) { $1 }
      configuration.descriptors = [nil, output.number, errors.number]
      let child = try ChildProcess(configuration)
      started(child.id)
      let ending = child.wait()
      let lines = String(decoding: try errors.contents(), as: UTF8.self).split(separator: "\n").map(String.init)
      let text = String(decoding: try output.contents(), as: UTF8.self)
      guard case .exited(let status) = ending else { return Program(status: nil, output: text, errors: lines) }
      return Program(status: status, output: text, errors: lines)
    }
  }

  /// The findings against the file: any status except 0, and any line on standard error.
  var findings: [String] {
    switch status {
    case 0: errors
    case 124: ["timed out"] + errors
    case 127: ["is not installed"] + errors
    case .some(let status): ["ended with status \(status)"] + errors
    case nil: ["was ended by a signal"] + errors
    }
  }
}

/// Returns a finding unless a value is the expected one; no expectation: none.
func difference<Number: Equatable>(_ what: String, _ found: Number?, _ expected: Number?) -> [String] {
  guard let expected, found != expected else { return [] }
  return ["\(what): \(found.map { "\($0)" } ?? "none") instead of \(expected)"]
}

/// Returns a finding unless a number is within `tolerance` of the expected one; no expectation: none.
func difference(_ what: String, _ found: Double?, _ expected: Double?, within tolerance: Double) -> [String] {
  guard let expected, abs((found ?? -1) - expected) > tolerance else { return [] }
  return ["\(what): \(found.map { "\($0)" } ?? "none") instead of \(expected)"]
}
