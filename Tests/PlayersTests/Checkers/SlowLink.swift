import HTTPServer
import Platform

/// A link that passes a constant number of bits per second, for all responses together.
actor SlowLink {
  private let bytesPerSecond: Double
  /// When everything that was sent before has passed.
  private var free = ContinuousClock.now

  // A few packets of the network.
  private static let part: Int64 = 4096

  init(bitsPerSecond: Double) { bytesPerSecond = bitsPerSecond / 8 }

  /// Returns a body with a range of a file, as fast as the link passes it, until the client goes away.
  nonisolated func body(of file: OpenFile, _ range: Range<Int64>) -> ResponseBody {
    let hasEnded = Locked(false)
    let stream = BodyStream(heartbeat: []) { _ in hasEnded.withLock { $0 = true } }
    Task {
      var offset = range.lowerBound
      // Ends: with the file.
      while offset < range.upperBound, !hasEnded.withLock({ $0 }) {
        let count = min(Self.part, range.upperBound - offset)
        await pass(count)
        guard let bytes = try? file.descriptor.bytes(count: Int(count), at: offset), stream.write(bytes) else { break }
        offset += count
      }
      stream.finish()
    }
    return .stream(stream)
  }

  private func pass(_ count: Int64) async {
    free = max(free, ContinuousClock.now) + .seconds(Double(count) / bytesPerSecond)
    try? await Task.sleep(until: free, clock: .continuous)
  }
}
