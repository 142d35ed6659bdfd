import Definitions
import Model
import Rooms

extension Subcommand {
  static let definitionList = Subcommand(
    "definition list", abstract: "List the built-in definitions, which say what is made from submissions.",
    options: [.json], example: "take5 definition list"
  ) { arguments in
    var table = TextTable("NAME", "VERSION", "KIND", "FOR", isNumeric: false)
    for document in Definitions.documents {
      let definition = try DefinitionDocument(document.bytes)
      let result = ListedDefinition(
        name: document.name, version: definition.version, kind: document.kind, purpose: document.purpose)
      if arguments.has(Option.json.name) {
        try Console.print(try JSON.text(result))
      } else {
        table.add(result.name, "\(result.version)", result.kind.rawValue, result.purpose)
      }
    }
    if !table.isEmpty { try Console.print(table.lines.joined(separator: "\n")) }
    return .success
  }

  static let definitionShow = Subcommand(
    "definition show", abstract: "Print a built-in definition as JSON, to change it in a file of your own.",
    operands: ["NAME"], example: "take5 definition show take5-post"
  ) { arguments in
    let name = arguments.operands[0]
    guard let document = Definitions.documents.first(where: { $0.name == name }) else {
      let nearest = NearestName.of(name, among: Definitions.documents.map(\.name)).map { ": did you mean '\($0)'?" }
      throw CommandFailure(
        .inputMissing, "no built-in definition has the name '\(name)'\(nearest ?? "")",
        remedy: "'take5 definition list' lists them")
    }
    try Console.write(String(decoding: document.bytes, as: UTF8.self))
    return .success
  }

  static let definitionCheck = Subcommand(
    "definition check",
    abstract: "Check the definition in a file as a service does, and compare it with the built-in one of its name.",
    operands: ["FILE"], options: [.json], example: "take5 definition check take5-post.json"
  ) { arguments in
    let path = arguments.operands[0]
    let bytes = try InputText.read(path)
    let check: DefinitionCheck
    do {
      let definition = try DefinitionDocument(bytes)
      if definition.builtIn != nil { try definition.checkServed() }
      check = try DefinitionCheck(path, definition, unused: try definition.unusedKeys(of: bytes))
    } catch {
      check = DefinitionCheck(path, fault: JSON.reason(error))
    }
    try Console.print(arguments.has(Option.json.name) ? try JSON.text(check) : check.text)
    return check.valid ? .success : .inconsistent
  }
}

/// A definition of any kind.
struct DefinitionDocument {
  private enum Value {
    case media(MediaDefinition)
    case collections(CollectionDefinition)
    case fields(RecordFields)
  }

  private let value: Value
  let name: String
  let version: Int
  /// Every key with its value, those that have their default too.
  let members: JSONTree
  /// The built-in definition of the same name and kind; nil if there is none.
  var builtIn: Definitions.Document? { Definitions.documents.first { $0.name == name && $0.kind == kind } }

  /// Only a definition of a kind of collections has items.
  private struct Keys: Decodable {
    let items: JSONTree?
  }

  /// Throws the first fault, with its path.
  init(_ bytes: [UInt8]) throws {
    if try JSON.decode(DefinitionName.self, from: bytes).name == RecordFields.name {
      let definition = try JSON.decode(RecordFields.self, from: bytes)
      value = .fields(definition)
      (name, version) = (definition.name, definition.version)
      members = try JSONTree(definition)
      return
    }
    if try JSON.decode(Keys.self, from: bytes).items != nil {
      let definition = try JSON.decode(CollectionDefinition.self, from: bytes)
      value = .collections(definition)
      (name, version) = (definition.name, definition.version)
      members = try JSONTree(definition)
      return
    }
    let definition = try JSON.decode(MediaDefinition.self, from: bytes)
    value = .media(definition)
    switch definition {
    case .clips(let clips):
      (name, version) = (clips.name, clips.version)
      members = try JSONTree(clips)
    case .photos(let photos):
      (name, version) = (photos.name, photos.version)
      members = try JSONTree(photos)
    }
  }

  var kind: Definitions.Document.Kind {
    switch value {
    case .media(.clips): .clips
    case .media(.photos): .photos
    case .collections: .collections
    case .fields: .fields
    }
  }

  /// Throws if a service cannot use the definition in the place of the built-in one.
  func checkServed() throws {
    guard case .media(let definition) = value else { return }
    _ = try SubmissionDefinitions.builtIn().replacing(definition)
  }

  /// The paths of the keys that have no effect, because a definition has no such key there.
  func unusedKeys(of bytes: [UInt8]) throws -> [String] {
    try JSONTree(parsing: bytes).keys(missingIn: members)
  }
}

/// A definition in `take5 definition list`.
private struct ListedDefinition: Encodable {
  let name: String
  let version: Int
  let kind: Definitions.Document.Kind
  let purpose: String
}

/// The result that `take5 definition check` prints.
private struct DefinitionCheck: Encodable {
  struct Difference: Encodable {
    let path: String
    /// As JSON; nil: the key is absent.
    let builtIn: String?
    let file: String?
  }

  let file: String
  /// Whether a service uses the definition, and every key of it has an effect.
  let valid: Bool
  let fault: String?
  let name: String?
  let version: Int?
  let kind: Definitions.Document.Kind?
  let unused: [String]
  /// Nil: no built-in definition has this name and kind.
  let differences: [Difference]?

  init(_ path: String, fault: String) {
    (file, valid, self.fault) = (path, false, fault)
    (name, version, kind, unused, differences) = (nil, nil, nil, [], nil)
  }

  init(_ path: String, _ definition: DefinitionDocument, unused: [String]) throws {
    (file, valid, fault) = (path, unused.isEmpty, nil)
    (name, version, kind) = (definition.name, definition.version, definition.kind)
    self.unused = unused
    differences = try definition.builtIn.map { try DefinitionDocument($0.bytes) }.map { builtIn in
      let (ours, theirs) = (builtIn.members.leaves, definition.members.leaves)
      return Set(ours.keys).union(theirs.keys).sorted().filter { ours[$0] != theirs[$0] }.map { path in
        Difference(path: path, builtIn: ours[path], file: theirs[path])
      }
    }
  }

  var text: String {
    if let fault { return "\(file) is not a definition: \(fault)" }
    var lines = ["\(file) defines \(name ?? "") of \(kind?.rawValue ?? ""), version \(version ?? 0)"]
    lines += unused.map { "no effect: a definition has no key \($0)" }
    guard let differences else { return (lines + ["no built-in definition has this name"]).joined(separator: "\n") }
    lines.append(
      differences.isEmpty ? "it is the same as the built-in one" : "it differs from the built-in one (built-in → file):"
    )
    lines += differences.map { "  \($0.path): \($0.builtIn ?? "-") → \($0.file ?? "-")" }
    return lines.joined(separator: "\n")
  }
}
