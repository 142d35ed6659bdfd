import Definitions
import FoundationEssentials
import Glibc
import Model
import Platform
import Store

extension ReprocessRequest {
  /// The run that the options describe.
  init(_ arguments: Arguments) throws {
    var selection = try ReprocessSelection(arguments)
    var definitions = try Self.builtIn()
    if let path = arguments.value("--definition") {
      let definition = try Self.definition(path)
      let kinds = try Self.kinds(of: definition, in: path, among: selection.kinds)
      for kind in kinds { definitions[kind] = definition.stored }
      // What it says nothing of is not meant.
      selection.kinds = kinds
    }
    self.init(selection, definitions: definitions)
    keepsOld = arguments.has("--keep-old")
    isForced = arguments.has("--force")
    isLocal = arguments.has("--local")
    priority = try arguments.number("--priority", in: 0...9) ?? priority
    if let text = arguments.value("--rate") {
      guard let rate = Double(text), rate > 0, rate.isFinite else {
        throw CommandFailure(.usage, "--rate is a number of items a second above 0, not '\(text)'")
      }
      self.rate = rate
    }
  }

  /// By what the service makes each kind unless it was told otherwise.
  private static func builtIn() throws -> [SubjectKind: StoredDefinition] {
    try SubjectKind.allCases.reduce(into: [:]) { definitions, kind in
      definitions[kind] =
        switch kind {
        case .take5: try StoredDefinition(Definitions.take5Post())
        case .marker: try StoredDefinition(Definitions.markerVideo())
        default: try Definitions.photo(kind.definitionName).map { try StoredDefinition($0) }
        }
    }
  }

  private static func definition(_ path: String) throws -> (stored: StoredDefinition, isVideo: Bool) {
    let bytes = try InputText.read(path)
    do {
      let definition = try JSON.decode(MediaDefinition.self, from: bytes)
      if case .clips = definition { return (try StoredDefinition(definition), true) }
      return (try StoredDefinition(definition), false)
    } catch {
      throw CommandFailure(
        .usage, "\(path) is no definition: \(JSON.reason(error))",
        remedy: "compare it with jobs/take5-post.json, or with jobs/photo-post.json")
    }
  }

  /// Those that are made by a definition of this name; of another name, those that were asked for.
  private static func kinds(
    of definition: (stored: StoredDefinition, isVideo: Bool), in path: String, among asked: Set<SubjectKind>
  ) throws(CommandFailure) -> Set<SubjectKind> {
    let named = Set(SubjectKind.allCases.filter { $0.definitionName == definition.stored.name })
    let kinds = asked.isEmpty ? named : asked
    guard !kinds.isEmpty else {
      throw CommandFailure(
        .usage, "\(path) is called '\(definition.stored.name)', and nothing is made by a definition of that name",
        remedy: "say by --kind what it is for")
    }
    if let wrong = kinds.first(where: { $0.isVideo != definition.isVideo }) {
      throw CommandFailure(
        .usage,
        "\(path) is a definition of \(definition.isVideo ? "clips" : "photos"), which '\(wrong.rawValue)' has not",
        remedy: "say another --kind, or leave it out")
    }
    return kinds
  }
}

extension ReprocessSelection {
  /// What the options and the operands select.
  init(_ arguments: Arguments) throws {
    self.init()
    kinds = try arguments.choices("--kind", of: SubjectKind.self)
    let statuses = try arguments.choices("--state", of: Status.self)
    if !statuses.isEmpty { self.statuses = statuses }
    definition = arguments.value("--made-by")
    versionBelow = try arguments.number("--version-below", in: 1...Int(Int32.max))
    let now = Date()
    createdAfter = try arguments.time("--created-after", now: now)
    createdBefore = try arguments.time("--created-before", now: now)
    author = arguments.value("--author")
    missing = try arguments.choice("--missing", of: Role.self)
    error = arguments.value("--error")
    limit = try arguments.number("--limit", in: 1...Int(Int32.max))
    var words = arguments.operands
    if let path = arguments.value("--ids") { words += try Self.words(of: path) }
    guard !words.isEmpty || arguments.value("--ids") != nil else { return }
    ids = try words.map { word in
      guard let id = PublicID(word) else {
        throw CommandFailure(.usage, "'\(word)' is no id of a post or an image")
      }
      return id
    }
  }

  /// The words of a file, or of standard input.
  private static func words(of path: String) throws -> [String] {
    String(decoding: try InputText.read(path), as: UTF8.self).split { $0.isWhitespace }.map(String.init)
  }
}
