import Glibc
package import Platform

/// A folder under /tmp that is removed with the last who holds it; other users may pass through it.
package final class TemporaryFolder: Sendable {
  package let path: String

  /// Makes it; the name begins with `prefix`.
  package init(prefix: String = "take5-test") throws(SystemError) {
    FolderRemoval.awaitAtExit()
    var template = Array("/tmp/\(prefix)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    // The server runs as another user than root: it must be able to reach what is its own.
    guard chmod(path, 0o711) == 0 else { throw SystemError(call: "chmod", subject: path) }
  }

  deinit { FolderRemoval.begin(path) }
}

/// Removes folders on threads of its own: where the storage discards what is freed, the removal of a cluster takes
/// seconds, and two of them would hold both threads of Swift's shared pool on a machine with two cores.
private enum FolderRemoval {
  private struct Shared {
    var running = 0
    var isAwaitedAtExit = false
  }

  private static let shared = Locked(Shared())
  private static let oneEnded = try? Event()

  /// Lets the process end after the removals; who gives a folder up at exit says so to atexit(3) later than this.
  static func awaitAtExit() {
    shared.withLock { shared in
      if !shared.isAwaitedAtExit { atexit { FolderRemoval.waitForAll() } }
      shared.isAwaitedAtExit = true
    }
  }

  static func begin(_ path: String) {
    shared.withLock { $0.running += 1 }
    do {
      try NamedThread(name: "folder-removal") { remove(path) }.detach()
    } catch {
      remove(path)
    }
  }

  private static func remove(_ path: String) {
    try? Folder.remove(path)
    shared.withLock { $0.running -= 1 }
    oneEnded?.signal()
  }

  private static func waitForAll() {
    while shared.withLock({ $0.running > 0 }) {
      oneEnded?.wait()
      oneEnded?.clear()
    }
  }
}
