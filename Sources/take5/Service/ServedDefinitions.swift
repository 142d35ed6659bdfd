import Definitions
import FoundationEssentials
import Model
import Platform
import Rooms

/// The definitions that a service processes submissions with: those that are built in, and those of a folder.
enum ServedDefinitions {
  static let option = Option(
    "--definitions", "DIR", variable: "TAKE5_DEFINITIONS",
    help: "folder with definitions that replace built-in ones of the same name, each a file *.json; "
      + "'take5 definition list' lists them")

  /// Reads the definitions. That of moments is the one that `--definition` names, if it is given.
  static func read(_ arguments: Arguments) throws -> SubmissionDefinitions {
    var definitions = try SubmissionDefinitions.builtIn(collections: CollectionKinds.read(arguments))
    if let folder = arguments.value(option.name) {
      for (path, bytes) in try DefinitionFolder.files(in: folder, option) {
        try DefinitionFolder.decode(path) {
          if try JSON.decode(DefinitionName.self, from: bytes).name == RecordFields.name {
            definitions.fields = try JSON.decode(RecordFields.self, from: bytes)
          } else {
            try definitions.replace(with: JSON.decode(MediaDefinition.self, from: bytes))
          }
        }
      }
    }
    if arguments.value(Option.definition.name) != nil { definitions.moment = try LocalMedia.definition(arguments) }
    return definitions
  }
}

/// What is read of a definition to know its kind.
struct DefinitionName: Decodable {
  let name: String?
}

/// Definitions in the files of a folder.
enum DefinitionFolder {
  /// Reads the files `*.json` of a folder, in the order of their names.
  static func files(in folder: String, _ option: Option) throws(CommandFailure) -> [(path: String, bytes: [UInt8])] {
    do {
      return try Folder.names(in: folder).filter { $0.hasSuffix(".json") }.sorted().map { name in
        ("\(folder)/\(name)", try Descriptor(reading: "\(folder)/\(name)").contents())
      }
    } catch {
      throw CommandFailure(
        .configuration, "the folder \(folder) cannot be read: \(error)", remedy: "name a folder with \(option.name)")
    }
  }

  /// Decodes the definition of a file with a closure; its errors become a failure that names the file.
  static func decode(_ path: String, _ read: () throws -> Void) throws(CommandFailure) {
    do { try read() } catch {
      throw CommandFailure(
        .configuration, "\(path) is no valid definition: \(JSON.reason(error))",
        remedy: "correct the file, or remove it; 'take5 definition write NAME --to DIR' writes a built-in one")
    }
  }
}

/// A definition that a service cannot use.
private struct UnfitDefinition: Error, CustomStringConvertible {
  let description: String
}

extension SubmissionDefinitions {
  /// The definitions that are built in.
  static func builtIn(collections: [String: CollectionDefinition] = [:]) throws -> SubmissionDefinitions {
    SubmissionDefinitions(
      moment: try Definitions.take5Post(), clip: try Definitions.markerVideo(), photos: try Definitions.photos(),
      collections: collections, fields: try Definitions.fields())
  }

  /// The same definitions with another one in the place of that of its name; throws if it cannot be used there.
  func replacing(_ definition: MediaDefinition) throws -> SubmissionDefinitions {
    var copy = self
    try copy.replace(with: definition)
    return copy
  }

  /// Replaces the definition of the same name.
  fileprivate mutating func replace(with definition: MediaDefinition) throws {
    switch definition {
    case .clips(let clips) where clips.name == moment.name: moment = clips
    case .clips(let clips) where clips.name == clip.name: clip = clips
    case .photos(let photo) where photos[photo.name] != nil:
      // An image that is shown although its definition holds it would be worse than a service that does not start.
      guard photo.moderation != .hold || photo.name == Self.photoPost else {
        throw UnfitDefinition(description: "'\(photo.name)' has the moderation 'hold', and only posts can be held")
      }
      photos[photo.name] = photo
    case .clips(let unknown): throw Self.unknown(unknown.name)
    case .photos(let unknown): throw Self.unknown(unknown.name)
    }
  }

  private static func unknown(_ name: String) -> UnfitDefinition {
    UnfitDefinition(description: "no built-in definition of this kind has the name '\(name)'")
  }
}
