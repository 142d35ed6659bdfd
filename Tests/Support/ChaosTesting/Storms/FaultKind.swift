import SeededRandom

/// A fault that the controller injects into a process or into something that it depends on; the text is its plural
/// phrase in figures.
enum FaultKind: String, Sendable, Hashable, Codable, CaseIterable {
  case kill = "killed"
  /// SIGSTOP for longer than a lease, then SIGCONT.
  case freeze = "frozen for longer than the lease"
  case terminate = "backends terminated"
  /// The connections carry no bytes for longer than a lease, and are not closed.
  case halfOpen = "half-open connections"
  /// An immediate shutdown of PostgreSQL, and a restart.
  case crash = "crashes of PostgreSQL"
  case cut = "connections cut"
  /// SIGTERM.
  case drain = "stopped"
  /// SIGKILL to the media processes of a worker.
  case killMedia = "media processes killed"
  /// SIGKILL to one worker after the other.
  case roll = "workers killed in a row"
  case storageFull = "storage full"
  case storageReadOnly = "storage read-only"
  case storageGone = "storage not mounted"
  /// Some calls of a process to the storage do not return for a while.
  case storageHangs = "processes with storage calls that hang"
  /// The bucket of blobs does not answer, takes long for each request, or sends halves of objects, for a while.
  case bucketHangs = "bucket hanging"
  /// The copies of objects in the cache of a machine have other bytes, or another length.
  case cacheLies = "caches with wrong bytes"
  case cacheGone = "caches removed"
  /// The wall clock of PostgreSQL or of the workers steps back or forward, the workers are killed, and it is set right.
  case clock = "steps of a clock by two hours, and back to its time"
  case databaseReadOnly = "PostgreSQL read-only"
  /// The owner of the embedded PostgreSQL ends, after SIGKILL or a signal to stop.
  case owner = "owners of PostgreSQL ended"
}

/// The numbers of injected faults, by kind.
struct FaultCounts: Sendable, CustomStringConvertible {
  private var counts: [FaultKind: Int] = [:]

  var total: Int { counts.values.reduce(0, +) }

  mutating func add(_ kind: FaultKind) { counts[kind, default: 0] += 1 }

  /// The number of faults of some kinds.
  func total(of kinds: [FaultKind]) -> Int { kinds.reduce(0) { $0 + (counts[$1] ?? 0) } }

  var description: String {
    let kinds = FaultKind.allCases.compactMap { kind in counts[kind].map { "\($0) \(kind.rawValue)" } }
    return "\(total): \(kinds.joined(separator: ", "))"
  }
}

extension SplitMix64 {
  /// Returns a value of `TAKE5_FAILPOINTS` that makes a call to the storage wait, for longer than a lease.
  mutating func hangingCall(of names: [String], upTo maxCount: Int) -> String? {
    guard let name = names.filter({ $0.hasPrefix("blob.") }).randomElement(using: &self) else { return nil }
    let count = Int.random(in: 1...maxCount, using: &self)
    return "\(name).before=pause:\(Int.random(in: 3000...6000, using: &self))ms@\(count)"
  }

  /// Returns a value of `TAKE5_FAILPOINTS` that kills or stops a process; nil in the remaining cases out of ten.
  mutating func failpoint(of names: [String], upTo maxCount: Int, killsInTen: Int, stopsInTen: Int) -> String? {
    guard let name = names.randomElement(using: &self) else { return nil }
    let side = Bool.random(using: &self) ? "before" : "after"
    let count = Int.random(in: 1...maxCount, using: &self)
    let choice = Int.random(in: 0..<10, using: &self)
    guard choice < killsInTen + stopsInTen else { return nil }
    return "\(name).\(side)=\(choice < killsInTen ? "kill" : "stop")@\(count)"
  }
}
