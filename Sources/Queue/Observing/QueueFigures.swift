package import FoundationEssentials
import Model

/// The figures of the queue as JSON, for the command line and the API. Unknown values are null.
package enum QueueFigures {
  /// The outcomes of the jobs of one kind within a time.
  package struct Finished: NilEncodable, Sendable {
    package let kind: String
    package let accepted: Int
    package let rejected: Int
    package let cancelled: Int
    package let perSecond: Double
    package let attempts: Int
    package let lost: Int
    package let p50Seconds: Double?
    package let p95Seconds: Double?
    package let p99Seconds: Double?

    package init(_ finished: FinishedJobs, seconds: Double) {
      kind = finished.kind
      accepted = finished.accepted
      rejected = finished.rejected
      cancelled = finished.cancelled
      perSecond = Double(finished.jobs) / seconds
      attempts = finished.attempts
      lost = finished.lost
      p50Seconds = finished.p50
      p95Seconds = finished.p95
      p99Seconds = finished.p99
    }
  }

  /// A registered worker.
  package struct Worker: NilEncodable, Sendable {
    package let number: Int64
    package let host: String
    package let process: Int
    package let startedAt: Date
    package let isAlive: Bool
    /// The age of the last heartbeat.
    package let beatAgeSeconds: Double
    package let jobs: Int
    /// How many it performs at the same time; nil: it is one of an earlier version.
    package let slots: Int?
    /// What it has done within the last hour, by the kind of jobs.
    package let lastHour: [Recent]

    package init(_ worker: WorkerRecord) {
      number = worker.id
      host = worker.host
      process = worker.process
      startedAt = worker.startedAt
      isAlive = worker.isAlive
      beatAgeSeconds = worker.heartbeatAgeSeconds
      (jobs, slots) = (worker.jobs, worker.slots)
      lastHour = worker.recent.kinds.sorted { $0.key < $1.key }.map { Recent($0.key, $0.value) }
    }
  }

  /// What a worker has done within the last hour with jobs of one kind.
  package struct Recent: NilEncodable, Sendable {
    package let kind: String
    package let completed: Int
    package let failed: Int
    /// The jobs that others took from it.
    package let lost: Int
    /// Nil without an attempt that was completed or failed.
    package let p50Seconds: Double?
    package let p95Seconds: Double?

    init(_ kind: String, _ figures: RecentAttempts.Figures) {
      self.kind = kind
      (completed, failed, lost) = (figures.completed, figures.failed, figures.lost)
      let hasTimes = figures.completed + figures.failed > 0
      (p50Seconds, p95Seconds) = hasTimes ? (figures.p50, figures.p95) : (nil, nil)
    }
  }
}

extension [QueueDepth] {
  /// In the order of queues, kinds and states.
  package var inOrder: [QueueDepth] {
    sorted { ($0.queue, $0.kind, $0.state.rawValue) < ($1.queue, $1.kind, $1.state.rawValue) }
  }
}
