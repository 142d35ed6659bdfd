import AV
package import Platform

/// Unnamed files (O_TMPFILE), which the system deletes when they are closed.
package enum TemporaryFile {
  // Disables FFmpeg's log, which would fill the output of the tests.
  private static let configureLibraries: Void = Library.configure(maxAllocation: 512 << 20)

  /// Creates an empty file.
  package static func make() throws -> OpenFile {
    configureLibraries
    return OpenFile(try Descriptor(unnamedIn: "/tmp"))
  }

  /// Creates a file with the given content.
  package static func make(_ bytes: [UInt8]) throws -> OpenFile {
    let file = try make()
    try file.descriptor.write(bytes, at: 0)
    return file
  }

  /// Returns the content of a file.
  package static func bytes(of file: OpenFile) throws -> [UInt8] {
    let size = Int(try file.descriptor.size())
    var bytes = [UInt8](repeating: 0, count: size)
    var filled = 0
    while filled < size {
      let count = try bytes.withUnsafeMutableBytes { buffer in
        try file.descriptor.read(
          into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]), at: Int64(filled))
      }
      if count == 0 { break }
      filled += count
    }
    return bytes
  }

  /// Returns a copy of the first `count` bytes of a file.
  package static func truncating(_ file: OpenFile, to count: Int) throws -> OpenFile {
    try make(Array(try bytes(of: file).prefix(count)))
  }
}
