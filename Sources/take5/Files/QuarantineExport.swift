import Blobs
import Crypto
import Glibc
import Model
import Platform
import Store

/// The files of `take5 quarantine export`: the inputs by their names, the definition and the facts. They appear
/// together, and replace nothing.
enum QuarantineExport {
  static let definition = "definition.json"
  static let facts = "quarantine.json"

  /// Writes the files to a folder, which is created if it does not exist; returns the report in the facts.
  static func write(
    _ media: QuarantinedMedia, definition: [UInt8], from blobs: any BlobStore, to path: String
  ) throws -> QuarantineReport {
    let folder = try OutputFolder(path)
    let report = QuarantineReport(media, in: folder.path)
    let names = report.inputs.map(\.name.rawValue) + [Self.definition, Self.facts]
    let paths = Dictionary(uniqueKeysWithValues: names.map { ($0, "\(folder.path)/\($0)") })
    for path in paths.values.sorted() where FileIdentity(ofPath: path) != nil {
      throw CommandFailure(.io, "\(path) already exists", remedy: "choose another folder with --to")
    }
    var files = try OutputFiles(paths, replacing: false, protecting: [])
    for (name, file) in files.opened {
      let input = report.inputs.first { $0.name.rawValue == name }
      let text = name == Self.facts ? try JSON.encode(report, pretty: true) + [10] : definition
      let hash = input.flatMap { SHA256Digest(hex: $0.hash) }
      if let input, let hash, let damage = try blobs.damage(of: hash, bytes: input.bytes) {
        throw BlobError.damaged(hash, damage)
      }
      do {
        if let hash { try file.descriptor.write(contentOf: blobs.open(hash)) } else { try file.descriptor.write(text) }
      } catch let error as SystemError {
        throw OutputFile.unwritable(paths[name] ?? name, error)
      }
    }
    _ = try files.commit()
    return report
  }
}
