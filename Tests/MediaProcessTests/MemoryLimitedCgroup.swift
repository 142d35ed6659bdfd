import Glibc
import Platform

/// A cgroup with hardly any memory, in either version; only root may make one, and not on every machine.
final class MemoryLimitedCgroup: Sendable {
  private let folder: String

  /// Nil where none can be made.
  init?() throws {
    let name = "take5-test-\(getpid())"
    for (parent, limit) in [
      ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), ("/sys/fs/cgroup", "memory.max"),
    ] {
      let folder = "\(parent)/\(name)"
      guard mkdir(folder, 0o755) == 0 || errno == EEXIST else { continue }
      if KernelFile.write("131072", to: "\(folder)/\(limit)") {
        self.folder = folder
        return
      }
      rmdir(folder)
    }
    return nil
  }

  deinit { rmdir(folder) }

  /// From now on a process has no memory but what it has, and a little.
  func take(_ process: Int32) { _ = KernelFile.write("\(process)", to: "\(folder)/cgroup.procs") }
}
