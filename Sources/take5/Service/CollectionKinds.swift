import Definitions
import FoundationEssentials
import Model
import Platform

/// The kinds of collections of a service: those that are built in, and those of a folder.
enum CollectionKinds {
  static let option = Option(
    "--collections", "DIR", variable: "TAKE5_COLLECTIONS",
    help: "folder with definitions of further kinds of collections, each a file *.json (docs/collections.md)")

  /// Reads the definitions; one of the folder replaces the one that is built in under its name.
  static func read(_ arguments: Arguments) throws -> [String: CollectionDefinition] {
    var kinds = try Definitions.collections()
    guard let folder = arguments.value(option.name) else { return kinds }
    let names: [String]
    do { names = try Folder.names(in: folder).filter { $0.hasSuffix(".json") }.sorted() } catch {
      throw CommandFailure(
        .configuration, "the folder \(folder) cannot be read: \(error)", remedy: "name a folder with --collections")
    }
    for name in names {
      let path = "\(folder)/\(name)"
      do {
        let kind = try JSON.decode(CollectionDefinition.self, from: Descriptor(reading: path).contents())
        kinds[kind.name] = kind
      } catch {
        throw CommandFailure(
          .configuration, "\(path) is no definition of a kind of collection: \(JSON.reason(error))",
          remedy: "correct the file (docs/collections.md), or remove it")
      }
    }
    return kinds
  }
}
