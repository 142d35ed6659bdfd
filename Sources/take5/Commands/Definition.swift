import Definitions
import MediaProcess
import Model
import Platform

extension Subcommand {
  private static let inUse: [Option] = [ServedDefinitions.option, CollectionKinds.option]

  static let definitionList = Subcommand(
    "definition list",
    abstract: "List the definitions in use, by which submissions become outputs, with their files.",
    options: [.json] + inUse, example: "take5 definition list"
  ) { arguments in
    var table = TextTable("NAME", "VERSION", "KIND", "FOR", "FROM", isNumeric: false)
    for definition in try UsedDefinition.all(arguments) {
      let result = try ListedDefinition(definition)
      if arguments.has(Option.json.name) {
        try Console.print(try JSON.text(result))
      } else {
        table.add(
          result.name, "\(result.version)", result.kind.rawValue, result.purpose, result.file ?? "built-in")
      }
    }
    if !table.isEmpty { try Console.print(table.lines.joined(separator: "\n")) }
    return .success
  }

  static let definitionShow = Subcommand(
    "definition show", abstract: "Print a definition as JSON: the configured one, otherwise the built-in one.",
    operands: ["NAME"], options: inUse, example: "take5 definition show take5-post"
  ) { arguments in
    let name = arguments.operands[0]
    let used = try UsedDefinition.all(arguments)
    guard let definition = used.first(where: { $0.name == name }) else {
      throw noDefinition(name, among: used.map(\.name), is: "definition")
    }
    try Console.write(String(decoding: definition.bytes, as: UTF8.self))
    return .success
  }

  static let definitionWrite = Subcommand(
    "definition write",
    abstract: "Write the named built-in definitions, or all of them, into a folder, each as NAME.json to start from.",
    operands: ["[NAME]…"],
    options: [
      Option("--to", "DIR", help: "folder for the files; it is created if it does not exist"), .force, .json,
    ],
    example: "take5 definition write take5-post --to definitions"
  ) { arguments in
    guard let folder = arguments.value("--to") else {
      throw CommandFailure(.usage, "no output given", remedy: "name a folder with --to DIR")
    }
    let names = Definitions.documents.map(\.name)
    for name in arguments.operands where !names.contains(name) {
      throw noDefinition(name, among: names, is: "built-in definition")
    }
    let wanted = Definitions.documents.filter {
      arguments.operands.isEmpty || arguments.operands.contains($0.name)
    }
    let outputFolder = try OutputFolder(folder)
    let paths = Dictionary(uniqueKeysWithValues: wanted.map { ($0.name, "\(outputFolder.path)/\($0.name).json") })
    var files = try OutputFiles(paths, replacing: arguments.has(Option.force.name), protecting: [])
    for document in wanted {
      guard let file = files.opened[document.name], let path = paths[document.name] else { continue }
      try OutputFile.write(document.bytes, to: file, at: path)
    }
    _ = try files.commit()
    for document in wanted {
      let result = WrittenDefinition(name: document.name, path: paths[document.name] ?? "")
      try Console.print(arguments.has(Option.json.name) ? try JSON.text(result) : result.path)
    }
    return .success
  }

  static let definitionCheck = Subcommand(
    "definition check",
    abstract:
      "Check the definition in a file as a service does, and compare it with the built-in one of the same name.",
    operands: ["FILE"],
    options: [Option("--try", help: "make the outputs from the first second of the samples, and print them"), .json],
    example: "take5 definition check take5-post.json --try"
  ) { arguments in
    let path = arguments.operands[0]
    let bytes = try InputText.read(path)
    var check: DefinitionCheck
    do {
      let definition = try DefinitionDocument(bytes)
      try definition.checkFaults()
      try definition.checkServed()
      check = try DefinitionCheck(path, definition, unused: try definition.unusedKeys(of: bytes))
      if arguments.has("--try"), case .media(let media) = definition.value {
        check.made = try await DefinitionTrial.outputs(of: media, arguments)
      }
    } catch let failure as CommandFailure {
      throw failure
    } catch is CancellationError {
      throw CommandFailure.interrupted
    } catch let failure as MediaFailure {
      throw CommandFailure(failure)
    } catch {
      check = DefinitionCheck(path, error, in: bytes)
    }
    try Console.print(arguments.has(Option.json.name) ? try JSON.text(check) : check.text)
    return check.valid ? .success : .inconsistent
  }

  private static func noDefinition(_ name: String, among names: [String], is noun: String) -> CommandFailure {
    let nearest = NearestName.of(name, among: names).map { ": did you mean '\($0)'?" } ?? ""
    return CommandFailure(
      .inputMissing, "no \(noun) has the name '\(name)'\(nearest)", remedy: "'take5 definition list' lists them")
  }
}

/// A definition that a service uses: a built-in one, or that of a file of its configuration.
private struct UsedDefinition {
  let name: String
  let purpose: String
  let bytes: [UInt8]
  /// Nil: it is built in.
  let path: String?

  /// The definitions that a service with these options uses; status 78 if it does not start with them.
  static func all(_ arguments: Arguments) throws -> [UsedDefinition] {
    // What a service refuses is refused here.
    _ = try ServedDefinitions.read(arguments)
    var used = Definitions.documents.map {
      UsedDefinition(name: $0.name, purpose: $0.purpose, bytes: $0.bytes, path: nil)
    }
    var failures: [CommandFailure] = []
    for option in [ServedDefinitions.option, CollectionKinds.option] {
      for file in DefinitionFolder.read(option, arguments, &failures) {
        let name = file.document.name
        let index = used.firstIndex { $0.name == name }
        let purpose = index.map { used[$0].purpose } ?? "collections of the kind '\(name)'"
        let definition = UsedDefinition(name: name, purpose: purpose, bytes: file.bytes, path: file.path)
        if let index { used[index] = definition } else { used.append(definition) }
      }
    }
    guard failures.isEmpty else { throw InvalidConfiguration(failures: failures) }
    return used
  }
}

/// A definition in `take5 definition list`.
private struct ListedDefinition: Encodable {
  let name: String
  let version: Int
  let kind: Definitions.Document.Kind
  let purpose: String
  /// The file of the configuration; nil: it is built in.
  let file: String?

  init(_ used: UsedDefinition) throws {
    let definition = try DefinitionDocument(used.bytes)
    (name, version, kind) = (definition.name, definition.version, definition.kind)
    (purpose, file) = (used.purpose, used.path)
  }
}

/// A file that `take5 definition write` has written.
private struct WrittenDefinition: Encodable {
  let name: String
  let path: String
}
