import Glibc
import Platform

/// Files of a few lines that say where something is.
enum SmallFile {
  /// The content without surrounding blanks; nil if there is none.
  static func read(_ path: String) -> String? {
    guard let file = try? Descriptor(reading: path) else { return nil }
    var bytes = [UInt8](repeating: 0, count: 4096)
    guard let count = try? bytes.withUnsafeMutableBytes({ buffer in try file.read(into: buffer, at: 0) }) else {
      return nil
    }
    let text = String(decoding: bytes.prefix(count), as: UTF8.self)
    return text.isEmpty ? nil : text.split(separator: "\n").first.map(String.init)
  }

  /// Replaces the file as a whole: a reader sees the old line or the new one. Only its owner may read it.
  static func write(_ line: String, to path: String) throws(SystemError) {
    let unfinished = "\(path).tmp"
    let file = try Descriptor(writing: unfinished, replacing: true, mode: 0o600)
    try file.write(Array((line + "\n").utf8))
    try file.synchronize()
    guard rename(unfinished, path) == 0 else { throw SystemError(call: "rename", subject: path) }
  }

  /// How long a log is; 0 if there is none.
  static func size(of path: String) -> Int64 { (try? Descriptor(reading: path).size()) ?? 0 }

  /// What a log has had added since it was so long, as far as an error needs it.
  static func text(of path: String, from position: Int64) -> String {
    guard let file = try? Descriptor(reading: path), let size = try? file.size() else { return "" }
    // A log that was set aside meanwhile begins anew.
    let start = max(position > size ? 0 : position, size - maxText)
    var buffer = [UInt8](repeating: 0, count: Int(size - start))
    let count = (try? buffer.withUnsafeMutableBytes { try file.read(into: $0, at: start) }) ?? 0
    return String(decoding: buffer.prefix(count), as: UTF8.self)
  }

  private static let maxText: Int64 = 1 << 16
}
