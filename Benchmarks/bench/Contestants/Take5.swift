internal import Model
internal import Platform

/// The composition as take5 makes it: the program with its media process.
struct Take5: Contestant {
  private let definition: Definition
  private let mode: ExecutionMode

  init(_ definition: Definition, mode: ExecutionMode = .throughput) {
    self.definition = definition
    self.mode = mode
  }

  var name: String { "take5-\(mode.rawValue)-\(definition.variant)" }
  let title = "take5"

  func prepare(in folder: String, on workbench: Workbench) throws -> Workplace {
    let description = "\(folder)/definition.json"
    try Descriptor(writing: description, replacing: true).write(JSON.encode(definition, pretty: true))
    let outputs = "\(folder)/outputs"
    let footage = workbench.footage
    let command = Command(
      path: workbench.programs.take5,
      arguments: [
        "compose", footage.front, footage.back, "--outputs", outputs, "--force", "--definition", description,
        "--json",
      ]
        + (mode == .latency ? ["--latency"] : []),
      log: "\(folder)/log")
    let paths = definition.outputs.roles.map { ($0, "\(outputs)/\($0.fileName)") }
    return Workplace(commands: [command], outputs: Dictionary(uniqueKeysWithValues: paths))
  }
}
