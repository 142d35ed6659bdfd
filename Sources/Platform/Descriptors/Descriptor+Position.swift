import Glibc

extension Descriptor {
  /// Writes all of an array at a position.
  package borrowing func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError) {
    let number = number
    try bytes.withUnsafeBytes { bytes in
      Result { () throws(SystemError) in try Self.write(bytes, to: number, at: offset) }
    }.get()
  }

  /// Writes all bytes at a position, wherever the descriptor's own position is.
  package borrowing func write(_ bytes: UnsafeRawBufferPointer, at offset: Int64) throws(SystemError) {
    try Self.write(bytes, to: number, at: offset)
  }

  private static func write(
    _ bytes: UnsafeRawBufferPointer, to number: Int32, at offset: Int64
  ) throws(SystemError) {
    var rest = bytes
    var offset = offset
    while !rest.isEmpty {
      let count = pwrite(number, rest.baseAddress, rest.count, off_t(offset))
      if count >= 0 {
        rest = UnsafeRawBufferPointer(rebasing: rest[count...])
        offset += Int64(count)
      } else if errno != EINTR {
        throw SystemError(call: "pwrite")
      }
    }
  }
}
