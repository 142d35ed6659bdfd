internal import CFFmpeg
import Glibc
package import Platform

/// A failed FFmpeg call with its error code (libavutil/error.h).
package struct AVError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The negative error code.
  package let code: Int32
  /// The name of the FFmpeg function.
  package let call: String
  /// The object of the call, such as a codec.
  package let subject: String?

  init(_ code: Int32, _ call: StaticString, subject: String? = nil) {
    self.code = code
    self.call = call.description
    self.subject = subject
  }

  package var description: String {
    let about = subject.map { " \($0)" } ?? ""
    return "\(call)\(about): \(message)"
  }

  /// FFmpeg's text for the error code.
  package var message: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
      guard let start = buffer.baseAddress else { return "error \(code)" }
      av_strerror(code, start, buffer.count)
      return String(cString: start)
    }
  }

  /// Whether an `Interrupt` stopped the call.
  package var isInterruption: Bool { code == cffmpeg_error_exit() }

  /// The `errno` value of a system error, such as `ENOSPC`; nil for FFmpeg's own errors.
  package var systemCode: Int32? { (-4095..<0).contains(code) ? -code : nil }

  /// Whether the device is full, the quota is exhausted, or the file size limit is reached.
  package var isOutOfSpace: Bool { systemCode == ENOSPC || systemCode == EDQUOT || systemCode == EFBIG }

  /// Whether an allocation failed or exceeded the limit.
  package var isOutOfMemory: Bool { systemCode == ENOMEM }

  /// Throws if `status` is an error.
  @discardableResult
  static func check(_ status: Int32, _ call: StaticString, subject: String? = nil) throws(AVError) -> Int32 {
    guard status >= 0 else { throw AVError(status, call, subject: subject) }
    return status
  }

  /// The error of a failed allocation.
  static func outOfMemory(_ call: StaticString) -> AVError { AVError(cffmpeg_error(ENOMEM), call) }
}

/// The condition that stops blocking media work: a cancellation flag or a deadline.
package final class Interrupt: Sendable {
  private let flag: CancellationFlag
  private let deadline: UInt64

  /// - Parameters:
  ///   - flag: stops the work when it is cancelled.
  ///   - seconds: the time until the deadline; nil for no deadline.
  package init(flag: CancellationFlag = CancellationFlag(), seconds: Double? = nil) {
    self.flag = flag
    deadline = seconds.map { Self.now() + UInt64(max(0, $0) * 1e9) } ?? .max
  }

  /// Whether the flag is cancelled.
  package var isCancelled: Bool { flag.isCancelled }

  private var isPastDeadline: Bool { deadline != .max && Self.now() >= deadline }

  /// Whether the work has to stop for either reason.
  package var isRaised: Bool { isCancelled || isPastDeadline }

  /// Throws if the work has to stop.
  package func check() throws(AVError) {
    if isRaised { throw AVError(cffmpeg_error_exit(), "interrupt") }
  }

  // Nanoseconds of the monotonic clock: the wall clock may be set back.
  private static func now() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// The interrupt callback for FFmpeg. The owner of the context must keep this object alive.
  var callback: AVIOInterruptCB {
    AVIOInterruptCB(callback: interruptRequested, opaque: Unmanaged.passUnretained(self).toOpaque())
  }
}

private func interruptRequested(_ opaque: UnsafeMutableRawPointer?) -> Int32 {
  guard let opaque else { return 0 }
  return Unmanaged<Interrupt>.fromOpaque(opaque).takeUnretainedValue().isRaised ? 1 : 0
}
