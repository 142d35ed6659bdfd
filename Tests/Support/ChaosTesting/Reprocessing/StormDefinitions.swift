import Definitions
import Model
import Platform

/// The definitions of a storm over reprocessing: those of the service, with small moments, and a change of each.
struct StormDefinitions: Sendable {
  /// The roles of an asset set, by definition, and the version of the changed one.
  struct Roles: Sendable {
    let first: Set<String>
    let changed: Set<String>
    let changedVersion: Int
  }

  private let folder: String
  /// The path of the first definition of moments, for the service.
  let moment: String
  /// The roles of each kind; for photos, the roles of one photo.
  let roles: [StormMedium.Kind: Roles]

  /// Writes the definitions to a folder.
  init(in folder: String) throws {
    let moment = try Self.smallMoment()
    self.moment = "\(folder)/moment-1.json"
    try Self.write(moment, to: self.moment)
    self.folder = folder
    var roles: [StormMedium.Kind: Roles] = [:]
    for kind in StormMedium.Kind.allCases {
      let path = "\(folder)/\(kind.rawValue)-2.json"
      switch kind {
      case .take5: roles[kind] = try Self.write(changeOf: moment, to: path)
      case .marker: roles[kind] = try Self.write(changeOf: Definitions.markerVideo(), to: path)
      case .photo: roles[kind] = try Self.write(changeOf: Self.photo("photo-post"), to: path)
      case .place: roles[kind] = try Self.write(changeOf: Self.photo("place-photo"), to: path)
      }
    }
    self.roles = roles
  }

  /// The path of a changed definition.
  func changed(_ kind: StormMedium.Kind) -> String { "\(folder)/\(kind.rawValue)-2.json" }

  /// A definition of short moments on a small canvas, so that a storm takes minutes.
  private static func smallMoment() throws -> Definition {
    var definition = try Definitions.take5Post()
    definition.limits.seconds = SecondsRange(shortest: 0.5, longest: 1.5)
    definition.canvas.width = 144
    definition.canvas.height = 256
    definition.canvas.framesPerSecond = 15
    definition.outputs[.composed]?.composed?.seconds = SecondsRange(shortest: 0.5, longest: 1)
    definition.outputs[.composed]?.composed?.inset.margin = 4
    definition.outputs[.composed]?.composed?.inset.radius = 4
    definition.outputs[.poster]?.still?.at = 0.4
    definition.outputs[.thumbnailFront]?.still?.at = 0.4
    definition.outputs[.thumbnailBack]?.still?.at = 0.4
    definition.outputs[.preview]?.preview?.at = 0.2
    definition.outputs[.preview]?.preview?.seconds = 0.4
    return definition
  }

  private static func photo(_ name: String) throws -> PhotoDefinition {
    guard let definition = try Definitions.photo(name) else { throw ServiceFailure("unknown definition \(name)") }
    return definition
  }

  // The change affects both bytes and roles, so that a mixed asset set is found by either.
  private static func write(changeOf definition: Definition, to path: String) throws -> Roles {
    var changed = definition
    changed.version += 1
    changed.outputs[.preview] = nil
    changed.outputs[.composed]?.composed?.video.crf = 30
    changed.outputs[.poster]?.still?.quality = 60
    changed.outputs[.thumbnail]?.still?.longEdge = 96
    changed.outputs[.thumbnailFront]?.still?.longEdge = 96
    changed.outputs[.thumbnailBack]?.still?.longEdge = 96
    try write(changed, to: path)
    return Roles(
      first: Set(definition.outputs.roles.map(\.rawValue)), changed: Set(changed.outputs.roles.map(\.rawValue)),
      changedVersion: changed.version)
  }

  private static func write(changeOf definition: PhotoDefinition, to path: String) throws -> Roles {
    var changed = definition
    changed.version += 1
    changed.variants[.photoMedium] = nil
    for role in changed.variants.keys { changed.variants[role]?.quality = 60 }
    try write(changed, to: path)
    return Roles(
      first: Set(definition.variants.keys.map(\.rawValue)), changed: Set(changed.variants.keys.map(\.rawValue)),
      changedVersion: changed.version)
  }

  private static func write(_ definition: some Encodable, to path: String) throws {
    try Descriptor(writing: path, replacing: true).write(try JSON.encode(definition, pretty: true))
  }
}
