import Model

/// The attempts that a worker has ended within the last hour, by the kind of their jobs.
package struct RecentAttempts: Sendable, Hashable {
  package struct Figures: Codable, Sendable, Hashable {
    /// The number of jobs that were completed, accepted or rejected, and of attempts that failed.
    package var completed: Int
    package var failed: Int
    /// The number of attempts whose jobs others took, because the worker did not renew their leases in time.
    package var lost: Int
    /// The median and the 95th percentile of the time of an attempt that was completed or failed, in seconds; 0 without one.
    package var p50: Double
    package var p95: Double

    package init(completed: Int, failed: Int, lost: Int = 0, p50: Double, p95: Double) {
      self.completed = completed
      self.failed = failed
      self.lost = lost
      self.p50 = p50
      self.p95 = p95
    }

    package init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: CodingKeys.self)
      completed = try container.decode(Int.self, forKey: .completed)
      failed = try container.decode(Int.self, forKey: .failed)
      // A worker of an earlier version does not count them.
      lost = try container.decodeIfPresent(Int.self, forKey: .lost) ?? 0
      p50 = try container.decode(Double.self, forKey: .p50)
      p95 = try container.decode(Double.self, forKey: .p95)
    }
  }

  package var kinds: [String: Figures]

  package init(kinds: [String: Figures] = [:]) { self.kinds = kinds }

  /// Reads what a worker has written; nothing if it is of an earlier version, or of a later one that writes it in another way.
  init(written text: String?) {
    do { kinds = try text.map { try JSON.decode([String: Figures].self, from: Array($0.utf8)) } ?? [:] } catch {
      kinds = [:]
    }
  }
}
