import Blobs
import Model
import Store

/// A file of a post or an image in the output of `take5 posts files` and `take5 posts export`.
struct StoredFileReport: Encodable {
  /// Its name in a folder.
  let name: String
  let role: Role
  /// The index of its photo, from 1; nil if it is not a photo of a post.
  let photo: Int?
  let isSource: Bool
  let type: String
  let bytes: Int64
  let width: Int?
  let height: Int?
  let duration: Double?
  let sha256: String
  /// The fault of the stored file; nil: none is known.
  let damage: String?
  /// Where it was written; nil in a list.
  let path: String?

  init(_ file: StoredFile, path: String? = nil) {
    let asset = file.stored.asset
    name = file.fileName
    role = asset.role
    photo = file.name.photo.map { $0 + 1 }
    isSource = file.isSource
    (type, bytes, sha256) = (asset.type, asset.bytes, asset.sha256)
    (width, height, duration) = (asset.width, asset.height, asset.duration)
    damage = file.stored.damage?.kind.rawValue
    self.path = path
  }

  /// A table of files.
  static func lines(_ reports: [StoredFileReport]) -> [String] {
    var table = TextTable("FILE", "TYPE", "BYTES", "PIXELS", "SECONDS", "SHA-256", "STATE")
    for report in reports {
      let pixels = report.width.flatMap { width in report.height.map { "\(width)x\($0)" } }
      table.add(
        report.name, report.type, "\(report.bytes)", pixels, report.duration.map { VerdictText.rounded($0) },
        report.sha256, report.damage ?? (report.isSource ? "source" : "served"))
    }
    return table.lines
  }
}
