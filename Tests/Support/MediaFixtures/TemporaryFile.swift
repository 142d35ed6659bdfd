import AV
package import Platform

/// Files without a name, which nothing can leave behind.
package enum TemporaryFile {
  // The libraries' own chatter would bury the test run's.
  private static let quietLibraries: Void = Library.configure(largestAllocation: 512 << 20)

  /// An empty file.
  package static func make() throws -> OpenFile {
    quietLibraries
    return OpenFile(try Descriptor(unnamedIn: "/tmp"))
  }

  /// A file with this content.
  package static func make(_ bytes: [UInt8]) throws -> OpenFile {
    let file = try make()
    try file.descriptor.write(bytes, at: 0)
    return file
  }

  /// Everything in a file.
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

  /// A copy of the beginning of a file.
  package static func truncating(_ file: OpenFile, to count: Int) throws -> OpenFile {
    try make(Array(try bytes(of: file).prefix(count)))
  }
}
