import Definitions
import Kit
import Model
import Rooms

/// The definitions that a service processes submissions with: the built-in ones, and the ones in its folders and files.
enum ServedDefinitions {
  static let option = Option(
    "--definitions", "DIR", variable: "TAKE5_DEFINITIONS",
    help: "folder with definitions that replace built-in ones of the same name, each a file *.json; "
      + "'take5 definition list' lists them")

  /// Reads the definitions, and reports all files that a service cannot use. For moments it is the one that `--definition` names, if it
  /// is given.
  static func read(_ arguments: Arguments) throws -> SubmissionDefinitions {
    var failures: [CommandFailure] = []
    var definitions = try SubmissionDefinitions.builtIn()
    for file in DefinitionFolder.read(CollectionKinds.option, arguments, &failures) {
      DefinitionFolder.use(file.path, &failures) { () throws(UnfitDefinition) in try definitions.add(file.document) }
    }
    for file in DefinitionFolder.read(option, arguments, &failures) {
      DefinitionFolder.use(file.path, &failures) { () throws(UnfitDefinition) in try definitions.replace(file.document)
      }
    }
    if let path = arguments.value(Option.definition.name) {
      do throws(CommandFailure) {
        let moment = try NamedDefinition.read(arguments)
        guard moment.isOfPair else {
          throw CommandFailure(
            .configuration, "\(path): \(UnfitDefinition.pair.description)",
            remedy: "compare it with the output of 'take5 definition show take5-post'")
        }
        definitions.moment = moment
      } catch { failures.append(error) }
    }
    guard failures.isEmpty else { throw InvalidConfiguration(failures: failures) }
    return definitions
  }
}

/// A definition that a service cannot use.
struct UnfitDefinition: Error, CustomStringConvertible {
  let description: String

  static let pair = UnfitDefinition(description: "inputs: expected front and back, the two clips of a moment")

  fileprivate static func unknown(_ name: String, among names: [String]) -> UnfitDefinition {
    let nearest = NearestName.of(name, among: names).map { ": did you mean '\($0)'?" } ?? ""
    return UnfitDefinition(description: "no built-in definition of this kind has the name '\(name)'\(nearest)")
  }
}

extension Definition {
  /// Whether it makes something of the two clips of a moment.
  var isOfPair: Bool { Set(inputs.keys) == [.front, .back] }
}

extension SubmissionDefinitions {
  /// The definitions that are built in.
  static func builtIn() throws -> SubmissionDefinitions {
    SubmissionDefinitions(
      moment: try Definitions.take5Post(), clip: try Definitions.markerVideo(), photos: try Definitions.photos(),
      collections: try Definitions.collections(), fields: try Definitions.fields())
  }

  /// Checks that a definition can stand in the place of the built-in one of its name.
  func check(_ document: DefinitionDocument) throws(UnfitDefinition) {
    var copy = self
    if document.kind == .collections { try copy.add(document) } else { try copy.replace(document) }
  }

  /// Adds a kind of collections, or replaces the one of its name.
  fileprivate mutating func add(_ document: DefinitionDocument) throws(UnfitDefinition) {
    guard case .collections(let kind) = document.value else {
      throw UnfitDefinition(description: "it defines \(document.kind.rawValue): move it to the folder of --definitions")
    }
    collections[kind.name] = kind
  }

  /// Replaces the definition of the same name.
  fileprivate mutating func replace(_ document: DefinitionDocument) throws(UnfitDefinition) {
    switch document.value {
    case .collections:
      throw UnfitDefinition(description: "it defines collections: move it to the folder of --collections")
    case .fields(let fields): self.fields = fields
    case .media(.clips(let clips)) where clips.name == moment.name:
      guard clips.isOfPair else { throw .pair }
      moment = clips
    case .media(.clips(let definition)) where definition.name == clip.name:
      guard !definition.isOfPair else {
        throw UnfitDefinition(description: "inputs: expected clip, as a marker has one clip")
      }
      clip = definition
    case .media(.clips(let unknown)): throw .unknown(unknown.name, among: [moment.name, clip.name])
    case .media(.photos(let photo)):
      guard photos[photo.name] != nil else { throw .unknown(photo.name, among: photos.keys.sorted()) }
      // An image that is shown although its definition holds it would be worse than a service that does not start.
      guard photo.moderation != .hold || photo.name == Self.photoPost else {
        throw UnfitDefinition(description: "'\(photo.name)' has the moderation 'hold', and only posts can be held")
      }
      photos[photo.name] = photo
    }
  }
}
