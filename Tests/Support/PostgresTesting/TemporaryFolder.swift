import Glibc
package import Platform

/// A folder under /tmp that is removed with the last who holds it; other users may pass through it.
package final class TemporaryFolder: Sendable {
  package let path: String

  /// Makes it; the name begins with `prefix`.
  package init(prefix: String = "take5-test") throws(SystemError) {
    var template = Array("/tmp/\(prefix)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    // The server runs as another user than root: it must be able to reach what is its own.
    guard chmod(path, 0o711) == 0 else { throw SystemError(call: "chmod", subject: path) }
  }

  deinit { try? Folder.remove(path) }
}
