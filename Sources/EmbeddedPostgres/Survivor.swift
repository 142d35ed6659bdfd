import Glibc
import Platform

/// A postmaster of our cluster that outlived its owner.
struct Survivor {
  let process: Int32
  let cluster: String

  /// Looks into the cluster's `postmaster.pid` and checks that the process is what the file says.
  ///
  /// A file whose process has long become another program is removed: the server would take it for itself.
  static func find(in layout: Layout) -> Survivor? {
    guard let line = SmallFile.read(layout.postmasterFile), let process = Int32(line), process > 0 else { return nil }
    let survivor = Survivor(process: process, cluster: layout.cluster)
    if survivor.isRunning { return survivor }
    if kill(process, 0) == 0 || errno == EPERM { _ = unlink(layout.postmasterFile) }
    return nil
  }

  /// Whether the process is a server of this cluster, which works in the cluster's folder; a dead one that nobody
  /// has reaped works nowhere.
  var isRunning: Bool {
    var folder = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/\(process)/cwd", &folder, folder.count - 1)
    return String(decoding: folder.prefix(max(count, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self) == cluster
  }

  /// Ends it: fast, then at once; its clients belonged to an owner that is gone.
  func stop() throws(EmbeddedPostgresError) {
    for (signal, patience) in [(SIGINT, Duration.seconds(10)), (SIGQUIT, .seconds(10))] {
      _ = kill(process, signal)
      let limit = ContinuousClock.now + patience
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
