/// What the controller does to a process, or to what it depends on.
package enum FaultKind: String, Sendable, Hashable, CaseIterable {
  /// SIGKILL.
  case kill
  /// SIGSTOP for longer than a lease, then SIGCONT.
  case freeze
  /// `pg_terminate_backend` of its connections.
  case terminate
  /// Its connections carry nothing for longer than a lease, and nobody closes them.
  case halfOpen = "half-open"
  /// Immediate shutdown of PostgreSQL, and a new start.
  case crash
  /// Its connections are closed.
  case cut
  /// SIGTERM: it is asked to end.
  case drain
  /// SIGKILL to the media processes of a worker.
  case killMedia = "kill-media"
  /// SIGKILL to one worker after the other.
  case roll
  /// The folder of blobs has no room left, for a while.
  case storageFull = "storage-full"
  /// The folder of blobs is read-only, for a while.
  case storageReadOnly = "storage-read-only"
  /// The folder of blobs is not mounted, for a while.
  case storageGone = "storage-gone"
  /// PostgreSQL takes no writes, for a while.
  case databaseReadOnly = "database-read-only"
  /// The owner of the embedded PostgreSQL ends, by SIGKILL or because it is asked to.
  case owner

  /// For a reader.
  package var title: String {
    switch self {
    case .kill: "killed"
    case .freeze: "frozen past the lease"
    case .terminate: "backends terminated"
    case .halfOpen: "half-open connections"
    case .crash: "crashes of PostgreSQL"
    case .cut: "connections cut"
    case .drain: "asked to end"
    case .killMedia: "media processes killed"
    case .roll: "workers killed in a row"
    case .storageFull: "storage full"
    case .storageReadOnly: "storage read-only"
    case .storageGone: "storage not mounted"
    case .databaseReadOnly: "PostgreSQL read-only"
    case .owner: "owners of PostgreSQL ended"
    }
  }

  /// So many of each, for a reader.
  static func text(_ counts: [FaultKind: Int]) -> String {
    "\(counts.values.reduce(0, +)): "
      + allCases.compactMap { kind in counts[kind].map { "\($0) \(kind.title)" } }.joined(separator: ", ")
  }
}
