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
