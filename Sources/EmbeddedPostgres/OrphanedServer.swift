import Glibc
import Platform

/// A postmaster of a cluster that still runs after its owner has ended.
struct OrphanedServer {
  let process: Int32
  let cluster: String

  /// Finds the server by the cluster's `postmaster.pid`.
  ///
  /// A file whose process is another program is removed: PostgreSQL would refuse to start.
  static func find(in layout: Layout) -> OrphanedServer? {
    guard let line = SmallFile.read(layout.postmasterFile), let process = Int32(line), process > 0 else { return nil }
    let server = OrphanedServer(process: process, cluster: layout.cluster)
    switch server.identity {
    case .server: return server
    case .other, .gone: _ = unlink(layout.postmasterFile)
    // It may be the server: the file stays, and PostgreSQL refuses to start a second one.
    case .unknown: break
    }
    return nil
  }

  /// The program that a process id denotes.
  enum Identity {
    case server
    case other
    case gone
    /// The process runs, but its program cannot be determined.
    case unknown
  }

  /// A server's working directory is the folder of its cluster; a zombie process has none (proc(5)).
  var identity: Identity {
    var folder = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/\(process)/cwd", &folder, folder.count - 1)
    if count < 0 {
      guard errno == ENOENT || errno == ESRCH else { return .unknown }
      // /proc may hide the processes of other users (hidepid).
      return kill(process, 0) < 0 && errno == EPERM ? .unknown : .gone
    }
    let path = String(decoding: folder.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return path == cluster ? .server : .other
  }

  /// Whether the process is certainly a server of this cluster.
  var isRunning: Bool { identity == .server }

  /// Stops the server: fast shutdown, then immediate shutdown, then SIGKILL.
  func stop() throws(EmbeddedPostgresError) {
    for (signal, timeout) in [(SIGINT, Duration.seconds(10)), (SIGQUIT, .seconds(10)), (SIGKILL, .seconds(5))] {
      _ = kill(process, signal)
      let limit = ContinuousClock.now + timeout
      while ContinuousClock.now < limit {
        // Not a child process: its end can only be polled.
        if !isRunning { return }
        usleep(5_000)
      }
    }
    throw EmbeddedPostgresError(
      "an orphaned PostgreSQL server, process \(process), does not end", remedy: "Stop it with kill \(process)")
  }
}

/// The processes of a server whose postmaster was killed. A busy or stopped backend continues to run, and PostgreSQL
/// refuses to start as long as it does.
struct OrphanedProcesses {
  /// The folder of the cluster: the working directory of the processes.
  let cluster: String

  private static let timeout = Duration.seconds(10)

  var processes: [Int32] {
    ((try? Folder.names(in: "/proc")) ?? []).compactMap { Int32($0) }.filter { process in
      // A user's shell may have the same working directory.
      SmallFile.read("/proc/\(process)/comm") == "postgres"
        && OrphanedServer(process: process, cluster: cluster).isRunning
    }
  }

  /// Kills the processes; call it once the postmaster has ended. Their open transactions are lost in any case.
  func end() throws(EmbeddedPostgresError) {
    let limit = ContinuousClock.now + Self.timeout
    while true {
      let left = processes
      if left.isEmpty { return }
      // A stopped process handles no other signal.
      for process in left { _ = kill(process, SIGKILL) }
      guard ContinuousClock.now < limit else {
        let list = left.map(String.init).joined(separator: " ")
        throw EmbeddedPostgresError(
          "orphaned PostgreSQL processes do not end: \(list)",
          remedy:
            "They wait in the kernel, perhaps for a device that does not respond: check it, or restart the machine")
      }
      // Not child processes: their end can only be polled.
      usleep(5_000)
    }
  }
}
