/// What follows the head of an answer.
package enum ResponseBody: Sendable {
  case bytes([UInt8])
  /// A region of an open file, sent by the kernel without passing through this process (sendfile(2)).
  case file(FileRegion)

  /// Its length in bytes.
  package var count: Int64 {
    switch self {
    case .bytes(let bytes): Int64(bytes.count)
    case .file(let region): region.count
    }
  }
}
