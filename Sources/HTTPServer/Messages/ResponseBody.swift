/// What follows the head of an answer.
package enum ResponseBody: Sendable {
  case bytes([UInt8])
  /// A region of an open file, sent by the kernel without passing through this process (sendfile(2)).
  case file(FileRegion)
  /// Bytes that are still to come, sent in chunks as they are written.
  case stream(BodyStream)

  /// Its length in bytes; of a stream, what has been sent by now.
  package var count: Int64 {
    switch self {
    case .bytes(let bytes): Int64(bytes.count)
    case .file(let region): region.count
    case .stream(let stream): stream.sentBytes
    }
  }

  /// The stream, if it is one.
  var stream: BodyStream? {
    if case .stream(let stream) = self { stream } else { nil }
  }
}
