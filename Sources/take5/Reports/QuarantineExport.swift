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
    var files = try OutputFiles(new: paths)
    for (name, file) in files.opened {
      let input = report.inputs.first { $0.name.rawValue == name }
      let text = name == Self.facts ? try JSON.encode(report, pretty: true) + [10] : definition
      let hash = input.flatMap { SHA256Digest(hex: $0.hash) }
      let path = paths[name] ?? name
      if let input, let hash {
        try OutputFile.write(blobs, hash, bytes: input.bytes, to: file, at: path)
      } else {
        try OutputFile.write(text, to: file, at: path)
      }
    }
    _ = try files.commit()
    return report
  }
}
