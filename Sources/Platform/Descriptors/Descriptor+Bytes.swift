import Glibc

extension Descriptor {
  /// Writes all bytes at the current position.
  package borrowing func write(_ bytes: [UInt8]) throws(SystemError) {
    let number = number
    var written = 0
    while written < bytes.count {
      let count = bytes.withUnsafeBytes { buffer in
        Glibc.write(number, buffer.baseAddress?.advanced(by: written), buffer.count - written)
      }
      if count >= 0 {
        written += count
      } else if errno != EINTR {
        throw SystemError(call: "write")
      }
    }
  }

  /// Reads at most `count` bytes at a position; fewer only at the end of the file.
  package borrowing func bytes(count: Int, at offset: Int64) throws(SystemError) -> [UInt8] {
    let number = number
    var bytes = [UInt8](repeating: 0, count: count)
    var filled = 0
    while filled < count {
      let read = bytes.withUnsafeMutableBytes { buffer in
        pread(number, buffer.baseAddress?.advanced(by: filled), count - filled, off_t(offset) + off_t(filled))
      }
      if read == 0 { break }
      if read > 0 {
        filled += read
      } else if errno != EINTR {
        throw SystemError(call: "pread")
      }
    }
    bytes.removeLast(count - filled)
    return bytes
  }
}
