import Glibc

/// What lies in a folder.
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
