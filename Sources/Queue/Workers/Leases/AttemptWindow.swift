import Platform

/// The attempts of a worker that have ended within the last hour, whose figures go along with its heartbeats.
final class AttemptWindow: Sendable {
  private struct Entry {
    let end: ContinuousClock.Instant
    let seconds: Double
    let kind: String
    let isCompleted: Bool
  }

  static let length = Duration.seconds(3600)

  private let entries = Locked<[Entry]>([])

  /// Records an attempt that was completed or has failed; one that was cancelled, released or lost says nothing of the
  /// worker.
  ///
  /// - Parameter outcome: see `WorkerMetrics.end`.
  func record(_ kind: String, outcome: String?, seconds: Double, at end: ContinuousClock.Instant) {
    let isCompleted: Bool
    switch outcome {
    case "accepted", "rejected": isCompleted = true
    case "retried", "dead": isCompleted = false
    default: return
    }
    entries.withLock { $0.append(Entry(end: end, seconds: seconds, kind: kind, isCompleted: isCompleted)) }
  }

  /// The figures of the last hour, by kind.
  func figures(at now: ContinuousClock.Instant) -> RecentAttempts {
    let recent = entries.withLock { entries in
      entries.removeAll { now - $0.end > Self.length }
      return entries
    }
    return RecentAttempts(
      kinds: Dictionary(grouping: recent, by: \.kind).mapValues { entries in
        let seconds = entries.map(\.seconds).sorted()
        let completed = entries.count { $0.isCompleted }
        return RecentAttempts.Figures(
          completed: completed, failed: entries.count - completed, p50: Self.percentile(0.5, of: seconds),
          p95: Self.percentile(0.95, of: seconds))
      })
  }

  /// The smallest of the sorted numbers that is not below this share of them.
  private static func percentile(_ share: Double, of sorted: [Double]) -> Double {
    sorted[max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1)]
  }
}
