internal import Model
internal import Platform

/// The work that nobody is spared who decodes with libav and encodes with x264: a process that decodes both clips on
/// one thread, and encodes pictures that were composed beforehand.
struct Limit: Contestant {
  private let definition: Definition

  init(_ definition: Definition) { self.definition = definition }

  var name: String { "limit-\(definition.variant)" }
  let title = "limit"

  func prepare(in folder: String, on workbench: Workbench) throws -> Workplace {
    let description = "\(folder)/definition.json"
    try Descriptor(writing: description, replacing: true).write(JSON.encode(definition))
    let pictures = try workbench.reference(for: definition)
    let command = Command(
      path: workbench.programs.bench,
      arguments: [
        LimitProcess.word, workbench.footage.back, workbench.footage.front, pictures.path, description,
      ],
      log: "\(folder)/report.json")
    return Workplace(commands: [command]) {
      let report = try Descriptor(reading: command.log).contents()
      return try JSON.decode(LimitReport.self, from: report).loadingSeconds
    }
  }
}
