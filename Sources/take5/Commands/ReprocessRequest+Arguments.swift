import FoundationEssentials
import Glibc
import Kit
import Model
import Platform
import Rooms
import Store

extension ReprocessRequest {
  /// Reads the options that describe a run.
  init(_ arguments: Arguments) throws {
    var selection = try ReprocessSelection(arguments)
    var definitions = try SubmissionDefinitions.builtIn().ofStoredMedia()
    if let path = arguments.value("--definition") {
      let definition = try Self.definition(path)
      // The run is limited to the kinds that the definition applies to.
      selection.kinds = try Self.kinds(of: definition, in: path, among: selection.kinds, definitions)
      definitions = Dictionary(uniqueKeysWithValues: selection.kinds.map { ($0, [definition]) })
    }
    self.init(selection, definitions: definitions)
    keepsOld = arguments.has("--keep-old")
    isForced = arguments.has("--force")
    priority = try arguments.number("--priority") ?? priority
    if let text = arguments.value("--rate") {
      guard let rate = Double(text), Self.rates.contains(rate) else {
        throw CommandFailure(.usage, "--rate must be \(Self.expectedRate), not '\(text)'")
      }
      self.rate = rate
    }
  }

  private static func definition(_ path: String) throws -> StoredDefinition {
    let bytes = try InputText.read(path, otherwise: .configuration)
    do {
      let definition = try JSON.decode(MediaDefinition.self, written: bytes)
      try definition.checkFaults()
      return try StoredDefinition(definition)
    } catch {
      throw CommandFailure(
        .configuration, "\(path) is not a definition: \(JSON.reason(error))",
        remedy: "compare it with the output of 'take5 definition show take5-post' or 'take5 definition show photo-post'"
      )
    }
  }

  /// The kinds that a definition applies to: those of `--kind`, or those that its name belongs to. Of a marker it is the media, a
  /// clip or a photo.
  private static func kinds(
    of definition: StoredDefinition, in path: String, among requested: Set<SubjectKind>,
    _ builtIn: [SubjectKind: [StoredDefinition]]
  ) throws(CommandFailure) -> Set<SubjectKind> {
    let named = Set(SubjectKind.allCases.filter { $0.definitionNames.contains(definition.name) })
    let kinds = requested.isEmpty ? named : requested
    guard !kinds.isEmpty else {
      throw CommandFailure(
        .usage, "\(path) has the name '\(definition.name)', which no kind of media uses",
        remedy: "name the kinds to reprocess with --kind")
    }
    let wrong = kinds.first { kind in builtIn[kind]?.contains { $0.isForClips == definition.isForClips } != true }
    if let wrong {
      throw CommandFailure(
        .usage,
        "\(path) is a definition for \(definition.isForClips ? "clips" : "photos"), and kind '\(wrong.rawValue)' has none",
        remedy: "use another --kind, or omit it")
    }
    return kinds
  }
}

extension ReprocessSelection {
  /// Reads the options and operands that select posts and images.
  init(_ arguments: Arguments) throws {
    self.init()
    kinds = try arguments.choices("--kind", of: SubjectKind.self)
    let statuses = try arguments.choices("--state", of: Status.self)
    if !statuses.isEmpty { self.statuses = statuses }
    reason = try arguments.choice("--reason", of: ReasonCode.self)
    if arguments.has("--rejected") {
      // --state has a default, which is one of the two.
      guard statuses.isEmpty || statuses == [.ready] else {
        throw CommandFailure(
          .usage, "--rejected and --state name the same items", remedy: "name them with --state ready,rejected")
      }
      self.statuses = [.rejected]
    }
    guard reason == nil || self.statuses == [.rejected] else {
      throw CommandFailure(.usage, "only rejected items have a reason", remedy: "add --rejected")
    }
    definition = arguments.value("--made-by")
    versionBelow = try arguments.number("--version-below")
    let now = Date()
    createdAfter = try arguments.time("--created-after", now: now)
    createdBefore = try arguments.time("--created-before", now: now)
    author = arguments.value("--author")
    missing = try arguments.choice("--missing", of: Role.self)
    error = arguments.value("--error")
    limit = try arguments.number("--limit")
    var texts = arguments.operands
    if let path = arguments.value("--ids") { texts += try Self.ids(inFile: path) }
    guard !texts.isEmpty || arguments.value("--ids") != nil else { return }
    ids = try texts.map { text in
      guard let id = PublicID(text) else {
        throw CommandFailure(
          .usage, "'\(text)' is not the id of a post or an image",
          remedy: "pass ids as the API returns them, separated by spaces or line breaks")
      }
      return id
    }
  }

  /// The texts between whitespace in a file, or in standard input for `-`.
  private static func ids(inFile path: String) throws -> [String] {
    String(decoding: try InputText.read(path), as: UTF8.self).split { $0.isWhitespace }.map(String.init)
  }
}
