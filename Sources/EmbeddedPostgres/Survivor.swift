import Glibc
import Platform

/// A postmaster of our cluster that outlived its owner.
struct Survivor {
  let process: Int32

  /// Looks into the cluster's `postmaster.pid` and checks that the process is what the file says.
  ///
  /// A file whose process has long become another program is removed: the server would take it for itself.
  static func find(in layout: Layout) -> Survivor? {
    guard let line = SmallFile.read(layout.postmasterFile), let process = Int32(line), process > 0 else { return nil }
    guard kill(process, 0) == 0 || errno == EPERM else { return nil }
    // A postmaster works in its cluster's folder.
    var folder = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/\(process)/cwd", &folder, folder.count - 1)
    let path = String(decoding: folder.prefix(max(count, 0)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    if path == layout.cluster { return Survivor(process: process) }
    _ = unlink(layout.postmasterFile)
    return nil
  }

  /// Ends it: fast, then at once; its clients belonged to an owner that is gone.
  func stop() throws(EmbeddedPostgresError) {
    for (signal, patience) in [(SIGINT, Duration.seconds(10)), (SIGQUIT, .seconds(10))] {
      _ = kill(process, signal)
      let limit = ContinuousClock.now + patience
      while ContinuousClock.now < limit {
        // Not our child: nothing tells of its end but asking.
        if kill(process, 0) != 0 { return }
        usleep(5_000)
      }
    }
    throw EmbeddedPostgresError(
      "a PostgreSQL server of an earlier run, process \(process), does not end", remedy: "Stop it with kill \(process)")
  }
}
