import Definitions
import Model

/// The kinds of collections of a service: those that are built in, and those of a folder.
enum CollectionKinds {
  static let option = Option(
    "--collections", "DIR", variable: "TAKE5_COLLECTIONS",
    help: "folder with definitions of further kinds of collections, each a file *.json such as that of "
      + "'take5 definition show album'")

  /// Reads the definitions; one of the folder replaces the one that is built in under its name.
  static func read(_ arguments: Arguments) throws -> [String: CollectionDefinition] {
    var kinds = try Definitions.collections()
    guard let folder = arguments.value(option.name) else { return kinds }
    for (path, bytes) in try DefinitionFolder.files(in: folder, option) {
      try DefinitionFolder.decode(path) {
        let kind = try JSON.decode(CollectionDefinition.self, from: bytes)
        kinds[kind.name] = kind
      }
    }
    return kinds
  }
}
