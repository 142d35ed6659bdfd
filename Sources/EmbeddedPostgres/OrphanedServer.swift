import Glibc
import Platform

/// A postmaster of our cluster that outlived its owner.
struct OrphanedServer {
  let process: Int32
  let cluster: String

  /// Looks into the cluster's `postmaster.pid` and checks that the process is what the file says.
  ///
  /// A file whose process has long become another program is removed: the server would take it for itself.
  static func find(in layout: Layout) -> OrphanedServer? {
    guard let line = SmallFile.read(layout.postmasterFile), let process = Int32(line), process > 0 else { return nil }
    let survivor = OrphanedServer(process: process, cluster: layout.cluster)
    switch survivor.identity {
    case .server: return survivor
    case .other, .gone: _ = unlink(layout.postmasterFile)
    // It may be the server: the file stays, and PostgreSQL itself refuses a second one.
    case .unknown: break
    }
    return nil
  }

  /// What can be said of the process behind a number.
  enum Identity {
    case server
    case other
    case gone
    /// It lives, and what it is may not be looked at.
    case unknown
  }

  /// A server of this cluster works in the cluster's folder; a dead process that nobody has reaped works nowhere
  /// (proc(5)).
  var identity: Identity {
    var folder = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/\(process)/cwd", &folder, folder.count - 1)
    if count < 0 {
      guard errno == ENOENT || errno == ESRCH else { return .unknown }
      // A mount of /proc may hide the processes of others (hidepid).
      return kill(process, 0) < 0 && errno == EPERM ? .unknown : .gone
    }
    let path = String(decoding: folder.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
    return path == cluster ? .server : .other
  }

  /// Whether the process is certainly a server of this cluster.
  var isRunning: Bool { identity == .server }

  /// Ends it: fast, then at once, then by force: its owner is gone, and the next one starts a server of its own.
  func stop() throws(EmbeddedPostgresError) {
    for (signal, timeout) in [(SIGINT, Duration.seconds(10)), (SIGQUIT, .seconds(10)), (SIGKILL, .seconds(5))] {
      _ = kill(process, signal)
      let limit = ContinuousClock.now + timeout
      while ContinuousClock.now < limit {
        // Not our child: nothing tells of its end but asking.
        if !isRunning { return }
        usleep(5_000)
      }
    }
    throw EmbeddedPostgresError(
      "a PostgreSQL server of an earlier run, process \(process), does not end", remedy: "Stop it with kill \(process)")
  }
}
