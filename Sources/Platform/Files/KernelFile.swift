import Glibc

/// Files of the kernel that tell something in a few lines, as those of proc(5) do.
package enum KernelFile {
  private static let most = 64 << 10

  /// The text; nil if it cannot be read.
  package static func read(_ path: String) -> String? {
    guard let file = try? Descriptor(reading: path) else { return nil }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 4096)
    // Such files have no size: they are read until they end.
    while bytes.count < most,
      let count = try? part.withUnsafeMutableBytes({ try file.read(into: $0, at: Int64(bytes.count)) }),
      count > 0
    {
      bytes += part.prefix(count)
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// Writes a value; false if the kernel refuses it.
  package static func write(_ text: String, to path: String) -> Bool {
    let number = open(path, O_WRONLY | O_CLOEXEC)
    guard number >= 0 else { return false }
    let file = Descriptor(owning: number)
    return (try? file.write(Array(text.utf8))) != nil
  }
}
