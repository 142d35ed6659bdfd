package import Crypto
import Glibc
package import Platform

/// How fast files are read that nobody waits for.
package struct ReadingPace: Sendable {
  private let bytesPerSecond: Int
  private let stop: CancellationFlag

  /// - Parameters:
  ///   - bytesPerSecond: at most, over a whole file.
  ///   - stop: once it is raised, reading fails with `ECANCELED`.
  package init(bytesPerSecond: Int, until stop: CancellationFlag) {
    self.bytesPerSecond = bytesPerSecond
    self.stop = stop
  }

  /// The digest of a file's whole content; the calling thread sleeps in between.
  package func digest(of file: borrowing Descriptor) throws(SystemError) -> SHA256Digest {
    var hasher = SHA256()
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 18, alignment: 64)
    defer { buffer.deallocate() }
    let began = ContinuousClock.now
    var offset: Int64 = 0
    while true {
      if stop.isCancelled { throw SystemError(call: "pread", code: ECANCELED) }
      let count = try file.read(into: buffer, at: offset)
      if count == 0 { return hasher.finalize() }
      hasher.update(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
      offset += Int64(count)
      let ahead = Double(offset) / Double(bytesPerSecond) - began.duration(to: .now) / .seconds(1)
      if ahead > 0 { usleep(UInt32(min(ahead, 0.5) * 1e6)) }
    }
  }
}
