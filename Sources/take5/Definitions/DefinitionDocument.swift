import Definitions
import Kit
import Model
import Rooms

/// A definition of any kind.
struct DefinitionDocument {
  enum Value {
    case media(MediaDefinition)
    case collections(CollectionDefinition)
    case fields(RecordFields)
  }

  let value: Value
  let name: String
  let version: Int
  /// Every key with its value, defaults included.
  let members: JSONTree
  /// The built-in definition of the same name and kind; nil if there is none.
  var builtIn: Definitions.Document? { Definitions.documents.first { $0.name == name && $0.kind == kind } }

  /// The keys of a definition that show its kind: only a kind of collections has items.
  private struct Keys: Decodable {
    let name: String?
    let items: JSONTree?
  }

  /// Throws the first fault, with its path.
  init(_ bytes: [UInt8]) throws {
    let keys = try JSON.decode(Keys.self, written: bytes)
    if keys.name == RecordFields.name {
      let definition = try JSON.decode(RecordFields.self, written: bytes)
      value = .fields(definition)
      (name, version) = (definition.name, definition.version)
      members = try JSONTree(definition)
      return
    }
    if keys.items != nil {
      let definition = try JSON.decode(CollectionDefinition.self, written: bytes)
      value = .collections(definition)
      (name, version) = (definition.name, definition.version)
      members = try JSONTree(definition)
      return
    }
    let definition = try JSON.decode(MediaDefinition.self, written: bytes)
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

  /// Throws if nothing could be made with the definition, or all media would be refused.
  func checkFaults() throws(FaultyDefinition) {
    if case .media(let definition) = value { try definition.checkFaults() }
  }

  /// Throws if a service cannot use the definition in the place of the built-in one. One of moments may have another name, with which
  /// `--definition` takes it.
  func checkServed() throws {
    if case .media(.clips(let definition)) = value, builtIn == nil, definition.isOfPair { return }
    try SubmissionDefinitions.builtIn().check(self)
  }

  /// The paths of the keys that have no effect, because a definition has no such key there.
  func unusedKeys(of bytes: [UInt8]) throws -> [String] {
    try JSONTree(parsing: bytes).keys(missingIn: members)
  }
}

/// A definition whose JSON can be read, and with which nothing could be made.
struct FaultyDefinition: Error, CustomStringConvertible {
  let faults: [DefinitionFault]

  var description: String { faults.map(\.description).joined(separator: "; ") }
}

extension MediaDefinition {
  /// Throws all faults.
  func checkFaults() throws(FaultyDefinition) {
    let faults = faults
    guard faults.isEmpty else { throw FaultyDefinition(faults: faults) }
  }
}
