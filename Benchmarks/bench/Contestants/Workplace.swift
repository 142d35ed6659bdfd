internal import Model
internal import Platform

/// A contestant ready to run.
struct Workplace: Sendable {
  /// What is run, one after another.
  let commands: [Command]
  /// The files that it makes, by role.
  let outputs: [Role: String]
  /// CPU seconds of its last run that were spent on what only the measuring asks for.
  let uncounted: @Sendable () throws -> Double

  init(
    commands: [Command], outputs: [Role: String] = [:], uncounted: @escaping @Sendable () throws -> Double = { 0 }
  ) {
    self.commands = commands
    self.outputs = outputs
    self.uncounted = uncounted
  }

  /// A comparison is one only if both made everything.
  func checkOutputs() throws {
    for path in outputs.values {
      guard try Descriptor(reading: path).size() > 0 else { throw BenchError("\(path) is empty") }
    }
  }

  /// The composed video.
  func composed() throws -> String {
    guard let path = outputs[.composed] else { throw BenchError("nothing is composed here") }
    return path
  }
}
