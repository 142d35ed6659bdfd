import Glibc

/// A system call that failed: which one, and with what `errno`.
package struct SystemError: Error, Hashable, CustomStringConvertible {
  /// The call, as its manual page is named.
  package let call: String
  /// The `errno` value.
  package let code: Int32
  /// What it was about: a path, a host.
  package let subject: String?

  package init(call: String, code: Int32 = errno, subject: String? = nil) {
    self.call = call
    self.code = code
    self.subject = subject
  }

  package var description: String {
    let about = subject.map { " \($0)" } ?? ""
    return "\(call)\(about): \(reason)"
  }

  /// What the system says of it, for who knows what it was about.
  package var reason: String { String(cString: strerror(code)) }

  /// Whether there is no room left on the device or in the quota.
  package var isOutOfSpace: Bool { code == ENOSPC || code == EDQUOT }
}
