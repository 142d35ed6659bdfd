import FoundationEssentials
internal import Model
internal import Platform
internal import Postgres
internal import Queue
internal import Store

/// The state of the service as JSON: what is now, and what the history says.
struct OverviewResponse: NilEncodable {
  struct Storage: Encodable {
    let freeBytes: Int64
    let minFreeBytes: Int64
  }

  let at: Date
  let queues: [QueueDepth]
  let lastHour: [QueueFigures.Finished]
  let lastDay: [QueueFigures.Finished]
  let minutes: [FinishedMinute]
  let times: [JobTimes]
  let workers: [QueueFigures.Worker]
  let reasons: [RejectionCount]
  let errors: [DeadError]
  let storage: Storage?

  init(at time: Date, _ live: LiveFigures, _ past: HistoryFigures, storage: Storage?) {
    at = time
    (queues, workers, errors) = (live.queues, live.workers, live.errors)
    (lastHour, lastDay) = (past.lastHour, past.lastDay)
    (minutes, times, reasons) = (past.minutes, past.times, past.reasons)
    self.storage = storage
  }
}

/// What the queue has now.
struct LiveFigures: Sendable {
  let queues: [QueueDepth]
  let workers: [QueueFigures.Worker]
  let errors: [DeadError]

  init(_ session: Session) throws {
    queues = try JobQueue.depths(session).inOrder
    workers = try JobQueue.workers(session).map(QueueFigures.Worker.init)
    errors = try JobQueue.deadErrors(session)
  }
}

/// What the history says of the last hour and the last day.
struct HistoryFigures: Sendable {
  let lastHour: [QueueFigures.Finished]
  let lastDay: [QueueFigures.Finished]
  let minutes: [FinishedMinute]
  let times: [JobTimes]
  let reasons: [RejectionCount]

  init(_ session: Session) throws {
    func finished(_ seconds: Double) throws -> [QueueFigures.Finished] {
      try JobQueue.finished(withinSeconds: seconds, session).map { QueueFigures.Finished($0, seconds: seconds) }
    }
    lastHour = try finished(3600)
    lastDay = try finished(86_400)
    minutes = try JobQueue.minutes(session)
    times = try JobQueue.times(session)
    reasons = try Operations.rejections(session)
  }
}

/// The figures of the history, which are read at most once in some seconds, however many consoles ask: the history of a day is long.
final class RecentHistory: Sendable {
  private static let lifetime = Duration.seconds(5)

  private let recent = Locked<(figures: HistoryFigures, until: ContinuousClock.Instant)?>(nil)

  /// Returns figures that are not older than the lifetime.
  func figures(_ read: () async throws -> HistoryFigures) async throws -> HistoryFigures {
    let now = ContinuousClock.now
    if let recent = recent.withLock({ $0 }), now < recent.until { return recent.figures }
    let figures = try await read()
    recent.withLock { $0 = (figures, now + Self.lifetime) }
    return figures
  }
}
