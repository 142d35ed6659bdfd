import Glibc

/// The failure of a system call.
package struct SystemError: Error, Hashable, CustomStringConvertible {
  /// The name of the call's manual page.
  package let call: String
  /// The `errno` value.
  package let code: Int32
  /// The argument of the call: a path, a host.
  package let subject: String?

  package init(call: String, code: Int32 = errno, subject: String? = nil) {
    self.call = call
    self.code = code
    self.subject = subject
  }

  package var description: String {
    let argument = subject.map { " \($0)" } ?? ""
    return "\(call)\(argument): \(reason)"
  }

  /// The text of `strerror` alone.
  package var reason: String { String(cString: strerror(code)) }

  /// Whether the device or the quota is full.
  package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT }
}
