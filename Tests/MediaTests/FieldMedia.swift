import Glibc
import Platform

/// A folder of clips that real phones recorded, and of hostile ones, which `TAKE5_FIELD_MEDIA` names.
enum FieldMedia {
  /// Nil where there is none: the tests over it are then skipped.
  static let folder: String? = getenv("TAKE5_FIELD_MEDIA").map { String(cString: $0) }

  static func open(_ path: String) throws -> OpenFile {
    OpenFile(try Descriptor(reading: "\(folder ?? "")/\(path)"))
  }
}
