import Platform

/// The attempts of a worker that have ended within the last hour, whose figures go along with its heartbeats.
final class AttemptWindow: Sendable {
  private struct Entry {
    let end: ContinuousClock.Instant
    let seconds: Double
    let kind: String
    let result: Result
  }

  private enum Result { case completed, failed, lost }

  static let length = Duration.seconds(3600)

  private let entries = Locked<[Entry]>([])

  /// Records an attempt that was completed, has failed, or was lost; one that was cancelled or released says nothing of the
  /// worker.
  ///
  /// - Parameter outcome: see `WorkerMetrics.end`.
  func record(_ kind: String, outcome: String?, seconds: Double, at end: ContinuousClock.Instant) {
    let result: Result
    switch outcome {
    case "accepted", "rejected": result = .completed
    case "retried", "dead": result = .failed
    case "lost": result = .lost
    default: return
    }
    entries.withLock { $0.append(Entry(end: end, seconds: seconds, kind: kind, result: result)) }
  }

  /// The figures of the last hour, by kind.
  func figures(at now: ContinuousClock.Instant) -> RecentAttempts {
    let recent = entries.withLock { entries in
      entries.removeAll { now - $0.end > Self.length }
      return entries
    }
    return RecentAttempts(
      kinds: Dictionary(grouping: recent, by: \.kind).mapValues { entries in
        // The time of a lost attempt is that until the worker noticed.
        let seconds = entries.filter { $0.result != .lost }.map(\.seconds).sorted()
        return RecentAttempts.Figures(
          completed: entries.count { $0.result == .completed }, failed: entries.count { $0.result == .failed },
          lost: entries.count { $0.result == .lost }, p50: Self.percentile(0.5, of: seconds),
          p95: Self.percentile(0.95, of: seconds))
      })
  }

  /// The smallest of the sorted numbers that is not below this share of them; 0 without any.
  private static func percentile(_ share: Double, of sorted: [Double]) -> Double {
    sorted.isEmpty ? 0 : sorted[max(0, Int((share * Double(sorted.count)).rounded(.up)) - 1)]
  }
}
