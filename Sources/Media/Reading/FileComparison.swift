import Platform

/// Whether two files hold the same bytes.
enum FileComparison {
  private static let blockBytes = 256 << 10

  /// Reads both only when their sizes are equal, and no further than their first difference.
  static func areEqual(_ one: OpenFile, _ other: OpenFile) throws(SystemError) -> Bool {
    let size = try one.descriptor.size()
    guard try other.descriptor.size() == size else { return false }
    var blocks = ([UInt8](repeating: 0, count: blockBytes), [UInt8](repeating: 0, count: blockBytes))
    var offset: Int64 = 0
    while offset < size {
      let count = min(Int(size - offset), blockBytes)
      try read(one, into: &blocks.0, count: count, at: offset)
      try read(other, into: &blocks.1, count: count, at: offset)
      if blocks.0[..<count] != blocks.1[..<count] { return false }
      offset += Int64(count)
    }
    return true
  }

  private static func read(
    _ file: OpenFile, into block: inout [UInt8], count: Int, at offset: Int64
  ) throws(SystemError) {
    var filled = 0
    while filled < count {
      let result = block.withUnsafeMutableBytes { bytes in
        Result { () throws(SystemError) in
          try file.descriptor.read(
            into: UnsafeMutableRawBufferPointer(rebasing: bytes[filled..<count]), at: offset + Int64(filled))
        }
      }
      let read = try result.get()
      if read == 0 { throw SystemError(call: "pread", code: 5) }
      filled += read
    }
  }
}
