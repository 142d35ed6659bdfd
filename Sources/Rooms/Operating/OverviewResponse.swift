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
  /// When the history was read; null while it could not be.
  let historyAt: Date?
  let queues: [QueueDepth]
  let lastHour: [QueueFigures.Finished]
  let lastDay: [QueueFigures.Finished]
  let minutes: [FinishedMinute]
  let times: [JobTimes]
  let workers: [QueueFigures.Worker]
  let reasons: [RejectionCount]
  let errors: [DeadError]
  let storage: Storage?

  init(at time: Date, _ live: LiveFigures, _ past: HistoryFigures?, storage: Storage?) {
    at = time
    historyAt = past?.at
    (queues, workers, errors) = (live.queues, live.workers, live.errors)
    (lastHour, lastDay) = (past?.lastHour ?? [], past?.lastDay ?? [])
    (minutes, times, reasons) = (past?.minutes ?? [], past?.times ?? [], past?.reasons ?? [])
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
  let at = Date.now
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
