import Glibc

extension Descriptor {
  /// Reads `count` bytes at an offset; fewer only at the end of the file.
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

extension Descriptor {
  /// Writes all bytes at the current position.
  package borrowing func write(_ bytes: [UInt8]) throws(SystemError) {
    // `Array.withUnsafeBytes` does not rethrow typed errors.
    var failure: SystemError?
    bytes.withUnsafeBytes { buffer in
      do throws(SystemError) { try write(buffer) } catch { failure = error }
    }
    if let failure { throw failure }
  }
}

extension Descriptor {
  /// Reads the entire file into memory; the position of the descriptor does not matter.
  package borrowing func contents() throws(SystemError) -> [UInt8] {
    let size = Int(try self.size())
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(size, 1), alignment: 16)
    defer { buffer.deallocate() }
    var count = 0
    while count < size {
      let part = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count..<size]), at: Int64(count))
      if part == 0 { break }
      count += part
    }
    return Array(buffer[..<count])
  }
}

extension Descriptor {
  /// Writes the entire content of another file at the current position.
  package borrowing func write(contentOf source: borrowing Descriptor) throws(SystemError) {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 16)
    defer { buffer.deallocate() }
    var offset: Int64 = 0
    while true {
      let count = try source.read(into: buffer, at: offset)
      if count == 0 { return }
      try write(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += Int64(count)
    }
  }
}

extension Descriptor {
  /// Writes all bytes at an offset.
  package borrowing func write(_ bytes: [UInt8], at offset: Int64) throws(SystemError) {
    let number = number
    try bytes.withUnsafeBytes { bytes in
      Result { () throws(SystemError) in try Self.write(bytes, to: number, at: offset) }
    }.get()
  }

  /// Writes all bytes at an offset; the position of the descriptor does not matter.
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
