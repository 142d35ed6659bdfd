import Glibc
import Platform

/// Processes of a server whose postmaster was killed: one that is busy or stopped goes on, and while it does PostgreSQL
/// refuses to start, since both would write the same files.
struct Orphans {
  /// The folder in which they work.
  let cluster: String

  private static let timeout = Duration.seconds(10)

  /// Those that there are; a process that has ended works nowhere, even if nobody has waited for it (proc(5)).
  var processes: [Int32] {
    ((try? Folder.names(in: "/proc")) ?? []).compactMap { Int32($0) }.filter { process in
      // Somebody's shell may stand in the folder too.
      SmallFile.read("/proc/\(process)/comm") == "postgres"
        && OrphanedServer(process: process, cluster: cluster).isRunning
    }
  }

  /// Ends them; to be called when the postmaster is gone. What they had not committed is lost with it anyway.
  func end() throws(EmbeddedPostgresError) {
    let limit = ContinuousClock.now + Self.timeout
    while true {
      let left = processes
      if left.isEmpty { return }
      // A stopped process heeds no other signal.
      for process in left { _ = kill(process, SIGKILL) }
      guard ContinuousClock.now < limit else {
        let list = left.map(String.init).joined(separator: " ")
        throw EmbeddedPostgresError(
          "processes of a PostgreSQL that was killed do not end: \(list)",
          remedy:
            "They wait for the kernel, perhaps for a device that does not answer: look at it, or restart the machine")
      }
      // Not our children: nothing tells of their end but asking.
      usleep(5_000)
    }
  }
}
