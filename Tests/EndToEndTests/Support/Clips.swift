import Definitions
import Glibc
import MediaFixtures
import Model
import Platform
import PostgresTesting

/// Clips in files, for the command line and for uploads.
enum Clips {
  static let front = MarkedClip(.red, tone: .init(440))
  static let back = MarkedClip(.blue, tone: .init(1000))

  /// Writes a clip to a file and returns its path.
  static func write(_ clip: MarkedClip, _ name: String, in folder: TemporaryFolder) throws -> String {
    try write(TemporaryFile.bytes(of: clip.write()), name, in: folder)
  }

  /// Writes bytes to a file and returns its path.
  static func write(_ bytes: [UInt8], _ name: String, in folder: TemporaryFolder) throws -> String {
    let path = "\(folder.path)/\(name)"
    try Descriptor(writing: path, replacing: true).write(bytes)
    return path
  }

  /// Appends a `free` box (ISO/IEC 14496-12, 8.1.2), which keeps the clip valid.
  static func padded(_ clip: [UInt8], by count: Int, filler: UInt8) -> [UInt8] {
    let size = UInt32(count)
    let head = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> UInt32($0)) } + Array("free".utf8)
    return clip + head + [UInt8](repeating: filler, count: count - 8)
  }
}

extension Definitions {
  /// The built-in definition with a sixteenth of the pixels.
  static func small() throws -> Definition {
    var definition = try take5Post()
    (definition.canvas.width, definition.canvas.height) = (270, 480)
    return definition
  }
}

/// Lists folders.
enum Folders {
  /// The paths of all files below it.
  static func files(below path: String) throws -> [String] {
    guard let folder = opendir(path) else { return [] }
    defer { closedir(folder) }
    var found: [String] = []
    while let entry = readdir(folder) {
      let name = withUnsafePointer(to: &entry.pointee.d_name) {
        $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
      }
      guard name != "." && name != ".." else { continue }
      if entry.pointee.d_type == UInt8(DT_DIR) {
        found += try files(below: "\(path)/\(name)")
      } else {
        found.append("\(path)/\(name)")
      }
    }
    return found
  }
}
