import Glibc
import Platform

/// A pipe whose writing end is given to a child.
struct Pipe: ~Copyable {
  let reading: Descriptor
  let writing: Descriptor

  init() throws(SystemError) {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SystemError(call: "pipe") }
    // A child gets what it is given by number; everything else is closed there anyway.
    for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    reading = Descriptor(owning: ends[0])
    writing = Descriptor(owning: ends[1])
  }

  /// Closes the writing end, which the child now holds, so that the reading end meets the child's end.
  consuming func keepReading() -> Descriptor { reading }
}

/// Reads until the end or, if `line`, until the first line is whole.
func read(_ descriptor: borrowing Descriptor, line: Bool = false) -> String {
  var bytes: [UInt8] = []
  var chunk = [UInt8](repeating: 0, count: line ? 1 : 1 << 16)
  while true {
    let count = Glibc.read(descriptor.number, &chunk, chunk.count)
    if count < 0 && errno == EINTR { continue }
    guard count > 0 else { break }
    bytes += chunk.prefix(count)
    if line && bytes.last == UInt8(ascii: "\n") { break }
  }
  return String(decoding: bytes, as: UTF8.self)
}
