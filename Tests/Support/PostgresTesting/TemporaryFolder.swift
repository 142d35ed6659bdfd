import Glibc
package import Platform

/// A folder for the time of a test that is removed with the last who holds it; other users may pass through it.
package final class TemporaryFolder: Sendable {
  package let path: String

  /// Makes it under /tmp, or in memory.
  ///
  /// - Parameters:
  ///   - prefix: what its name begins with.
  ///   - bytes: to lie in memory where there is so much, for what is as good without a disk; nil: on the disk.
  package init(prefix: String = "take5-test", inMemoryWith bytes: UInt64? = nil) throws(SystemError) {
    FolderRemoval.awaitAtExit()
    let place = bytes.map { Self.freeMemory >= $0 } == true ? Self.memory : "/tmp"
    var template = Array("\(place)/\(prefix)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    // The server runs as another user than root: it must be able to reach what is its own.
    guard chmod(path, 0o711) == 0 else { throw SystemError(call: "chmod", subject: path) }
  }

  deinit { FolderRemoval.begin(path) }

  private static let memory = "/dev/shm"

  private static var freeMemory: UInt64 {
    var status = statvfs()
    return statvfs(memory, &status) == 0 ? UInt64(status.f_bavail) * UInt64(status.f_frsize) : 0
  }
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
