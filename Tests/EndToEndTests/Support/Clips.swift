import MediaFixtures
import Platform
import PostgresTesting

/// Clips as files with names, for the command line and for uploads.
enum Clips {
  static let front = MarkedClip(.red, tone: .init(440))
  static let back = MarkedClip(.blue, tone: .init(1000))

  /// Writes a clip under a name; returns its path.
  static func write(_ clip: MarkedClip, _ name: String, in folder: TemporaryFolder) throws -> String {
    try write(TemporaryFile.bytes(of: clip.write()), name, in: folder)
  }

  /// Writes bytes under a name; returns the path.
  static func write(_ bytes: [UInt8], _ name: String, in folder: TemporaryFolder) throws -> String {
    let path = "\(folder.path)/\(name)"
    try Descriptor(writing: path, replacing: true).write(bytes)
    return path
  }

  /// A box of zeros (ISO/IEC 14496-12, 8.1.2) that makes a clip as large as is wanted, and stays sound.
  static func padded(_ clip: [UInt8], by count: Int, filler: UInt8) -> [UInt8] {
    let size = UInt32(count)
    let head = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: size >> UInt32($0)) } + Array("free".utf8)
    return clip + head + [UInt8](repeating: filler, count: count - 8)
  }
}
