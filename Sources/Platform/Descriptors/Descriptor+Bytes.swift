extension Descriptor {
  /// Writes all bytes at the current position.
  package borrowing func write(_ bytes: [UInt8]) throws(SystemError) {
    // Array's own accessors do not pass typed errors on.
    var failure: SystemError?
    bytes.withUnsafeBytes { buffer in
      do throws(SystemError) { try write(buffer) } catch { failure = error }
    }
    if let failure { throw failure }
  }
}

extension Descriptor {
  /// The whole content of a file that is small enough to lie in memory, wherever its position is.
  package borrowing func contents() throws(SystemError) -> [UInt8] {
    let room = Int(try size())
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: max(room, 1), alignment: 16)
    defer { buffer.deallocate() }
    var count = 0
    while count < room {
      let part = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count..<room]), at: Int64(count))
      if part == 0 { break }
      count += part
    }
    return Array(buffer[..<count])
  }
}

extension Descriptor {
  /// Writes the whole content of another file at the current position.
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
