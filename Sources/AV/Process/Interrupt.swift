internal import CFFmpeg
import Glibc
package import Platform

/// When blocking media work has to stop: a flag that somebody raises, or a moment that passes.
package final class Interrupt: Sendable {
  private let flag: CancellationFlag
  private let deadline: UInt64

  /// - Parameters:
  ///   - flag: stops the work when raised.
  ///   - seconds: the time from now after which it stops too; nil: none.
  package init(flag: CancellationFlag = CancellationFlag(), seconds: Double? = nil) {
    self.flag = flag
    deadline = seconds.map { Self.now() + UInt64(max(0, $0) * 1e9) } ?? .max
  }

  /// Whether the flag was raised.
  package var isCancelled: Bool { flag.isCancelled }

  /// Whether the time is over.
  package var isPastDeadline: Bool { deadline != .max && Self.now() >= deadline }

  /// Whether the work has to stop for either reason.
  package var isRaised: Bool { isCancelled || isPastDeadline }

  /// Throws if the work has to stop.
  package func check() throws(AVError) {
    if isRaised { throw AVError(cffmpeg_error_exit(), "interrupt") }
  }

  // Monotonic nanoseconds: the wall clock may be set back.
  private static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// The callback for libav; the owner of the context keeps this object alive.
  var callback: AVIOInterruptCB {
    AVIOInterruptCB(callback: interruptRequested, opaque: Unmanaged.passUnretained(self).toOpaque())
  }
}

private func interruptRequested(_ opaque: UnsafeMutableRawPointer?) -> Int32 {
  guard let opaque else { return 0 }
  return Unmanaged<Interrupt>.fromOpaque(opaque).takeUnretainedValue().isRaised ? 1 : 0
}
