internal import MediaProcess
internal import Model
internal import Platform

/// A program or a series of commands that makes a definition's outputs, or does a part of that work.
protocol Contestant: Sendable {
  /// A unique name, also of its folder.
  var name: String { get }
  /// The name in tables.
  var title: String { get }

  /// Does the work that is not measured, and returns the commands to measure.
  ///
  /// - Parameter folder: the contestant's own folder, for its outputs.
  func prepare(in folder: String, on workbench: Workbench) throws -> PreparedContestant
}

/// The commands and outputs of a contestant that is ready to run.
struct PreparedContestant: Sendable {
  /// The commands, which run one after another.
  let commands: [Command]
  /// The paths of its outputs, by role.
  let outputs: [Role: String]
  /// Returns the CPU seconds of the last run that only the measurement caused.
  let uncounted: @Sendable () throws -> Double

  init(
    commands: [Command], outputs: [Role: String] = [:], uncounted: @escaping @Sendable () throws -> Double = { 0 }
  ) {
    self.commands = commands
    self.outputs = outputs
    self.uncounted = uncounted
  }

  /// Throws unless every output exists and is not empty.
  func checkOutputs() throws {
    for path in outputs.values {
      guard try Descriptor(reading: path).size() > 0 else { throw BenchError("\(path) is empty") }
    }
  }

  /// Returns the path of the composed video.
  func composed() throws -> String {
    guard let path = outputs[.composed] else { throw BenchError("the contestant has no composed output") }
    return path
  }
}

/// The composition by `take5 compose` with its media process.
struct Take5: Contestant {
  private let definition: Definition
  private let mode: ExecutionMode
  private let sandbox: SandboxMode

  init(_ definition: Definition, mode: ExecutionMode = .throughput, sandbox: SandboxMode = .available) {
    self.definition = definition
    self.mode = mode
    self.sandbox = sandbox
  }

  var name: String { "take5-\(mode.rawValue)-\(definition.variant)" + (sandbox == .off ? "-unconfined" : "") }
  var title: String { sandbox == .off ? "without walls" : "take5" }

  func prepare(in folder: String, on workbench: Workbench) throws -> PreparedContestant {
    let description = "\(folder)/definition.json"
    try Descriptor(writing: description, replacing: true).write(JSON.encode(definition, pretty: true))
    let outputs = "\(folder)/outputs"
    let footage = workbench.footage
    let command = Command(
      path: workbench.programs.take5,
      arguments: [
        "compose", footage.front, footage.back, "--outputs", outputs, "--force", "--definition", description,
        "--json", "--sandbox", sandbox.rawValue,
      ]
        + (mode == .latency ? ["--latency"] : []),
      log: "\(folder)/log")
    let paths = definition.outputs.roles.map { ($0, "\(outputs)/\($0.fileName)") }
    return PreparedContestant(commands: [command], outputs: Dictionary(uniqueKeysWithValues: paths))
  }
}
