import Glibc

extension Descriptor {
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
