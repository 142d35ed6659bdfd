internal import CFFmpeg
import Glibc

/// A libav call that failed: which one, and what it returned (libavutil/error.h).
package struct AVError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What libav returned, a negative number.
  package let code: Int32
  /// The call, by its name in libav.
  package let call: String
  /// What it was about: a codec, a stream.
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

  /// What libav says that the code means.
  package var message: String {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { buffer in
      guard let start = buffer.baseAddress else { return "error \(code)" }
      av_strerror(code, start, buffer.count)
      return String(cString: start)
    }
  }

  /// Whether the work was stopped by its interrupt.
  package var isInterruption: Bool { code == cffmpeg_error_exit() }

  /// The `errno` value if the system refused something, such as ENOSPC; nil for libav's own errors.
  package var systemCode: Int32? { (-4095..<0).contains(code) ? -code : nil }

  /// Whether there is no room left on the device, in the quota, or under the limit on file sizes.
  package var isOutOfSpace: Bool { systemCode == ENOSPC || systemCode == EDQUOT || systemCode == EFBIG }

  /// Whether an allocation failed or was refused.
  package var isOutOfMemory: Bool { systemCode == ENOMEM }

  /// Throws if `status` is an error.
  @discardableResult
  static func check(_ status: Int32, _ call: StaticString, subject: String? = nil) throws(AVError) -> Int32 {
    guard status >= 0 else { throw AVError(status, call, subject: subject) }
    return status
  }

  /// An allocation that returned nothing.
  static func outOfMemory(_ call: StaticString) -> AVError { AVError(cffmpeg_error(ENOMEM), call) }
}
