import Glibc

/// Why nothing can be measured, or not everything.
struct BenchError: Error, CustomStringConvertible {
  let description: String
  /// Of the process, one of sysexits.h; what was asked for is to blame unless told.
  let status: Int32

  init(_ description: String, status: Int32 = EX_USAGE) {
    self.description = description
    self.status = status
  }
}
