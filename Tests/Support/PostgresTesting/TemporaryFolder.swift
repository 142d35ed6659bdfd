import Glibc
package import Platform

/// A temporary folder, which is removed with its last reference; other users have search permission.
package final class TemporaryFolder: Sendable {
  package let path: String

  /// Creates the folder in memory if there is room, because stores and clusters have a thousand files; otherwise under /tmp.
  package init(prefix: String = "take5-test") throws(SystemError) {
    FolderRemoval.awaitAtExit()
    let parent = Self.hasRoomInMemory ? Self.memory : "/tmp"
    var template = Array("\(parent)/\(prefix)-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw SystemError(call: "mkdtemp") }
    path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    // For a server that runs as another user.
    guard chmod(path, 0o711) == 0 else { throw SystemError(call: "chmod", subject: path) }
  }

  deinit { FolderRemoval.begin(path) }

  /// Removes the folder at the end of the process: what a static variable refers to has no last reference.
  package func keepUntilExit() {
    kept.withLock { kept in
      if kept.isEmpty { atexit(removeAtExit) }
      kept.append(self)
    }
  }

  private static let memory = "/dev/shm"

  /// `ST_NOEXEC` of statvfs(3).
  private static let forbidsPrograms: UInt = 8

  /// Whether 4 GiB are free, and programs can be copied there.
  private static var hasRoomInMemory: Bool {
    var status = statvfs()
    guard statvfs(memory, &status) == 0, status.f_flag & forbidsPrograms == 0 else { return false }
    return UInt64(status.f_bavail) * UInt64(status.f_frsize) >= 4 << 30
  }
}

private let kept = Locked<[TemporaryFolder]>([])

// At file scope, for atexit(3).
private func removeAtExit() {
  kept.withLock { kept in
    for folder in kept { FolderRemoval.begin(folder.path) }
  }
}

/// Removes folders on threads of its own: removing a cluster may take seconds on storage with online discard, and two
/// removals would block both threads of Swift's pool on a machine with two cores.
private enum FolderRemoval {
  private struct Shared {
    var running = 0
    var isAwaitedAtExit = false
  }

  private static let shared = Locked(Shared())
  private static let removed = try? Event()

  /// Makes the exit of the process wait for the removals; atexit(3) functions that release folders must be registered
  /// later.
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
    removed?.signal()
  }

  private static func waitForAll() {
    // Ends: with the removals; the process ends, and no test waits.
    while shared.withLock({ $0.running > 0 }) {
      removed?.wait()
      removed?.clear()
    }
  }
}
