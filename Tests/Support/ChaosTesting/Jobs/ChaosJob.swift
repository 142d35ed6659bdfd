package import Model
package import Queue

/// What a job carries, and how it is enqueued.
package struct ChaosJob: Sendable, Hashable, Codable {
  package static let longQueue = "long"
  /// Its jobs take no time.
  package static let shortQueue = "short"
  /// Author of jobs that a producer may cancel while they run.
  package static let cancellable = "cancellable"
  /// Author of jobs that wait until an operator hastens them.
  package static let putOff = "put off"

  package var queue: String
  package var behaviour: JobBehaviour
  /// How long an attempt takes.
  package var milliseconds: Int
  /// The attempts that it gets.
  package var attempts = 5
  /// In seconds.
  package var delay: Double = 0
  package var uniqueKey: String?
  /// The name of a limit: two of them at a time.
  package var limit: String?
  /// Whose turn it takes.
  package var share: String?
  /// Whether its producer cancels it right after it was enqueued.
  package var isWithdrawn = false
  /// Whether producers may cancel it while it runs.
  package var isCancellable = false
  /// Whether it waits until somebody hastens it.
  package var isPutOff = false
  package var priority = 5

  package init(_ queue: String, _ behaviour: JobBehaviour = .works, milliseconds: Int = 0) {
    self.queue = queue
    self.behaviour = behaviour
    self.milliseconds = milliseconds
    if behaviour == .breaks { attempts = 2 }
  }

  /// The job of that id in a long run: decided by the random part of the id, so that nothing else needs to be remembered.
  package init(of id: PublicID) {
    var random = SplitMix64(seed: UInt64(id.description.suffix(12), radix: 16) ?? 0)
    let isLong = Int.random(in: 0..<100, using: &random) < 15
    let behaviour: JobBehaviour =
      switch Int.random(in: 0..<1000, using: &random) {
      case ..<60: .fails
      case ..<75: .breaks
      case ..<105: .refuses
      case ..<115: .cancelsItself
      case ..<135: .snoozes
      default: .works
      }
    let length = Int.random(in: 0..<1000, using: &random)
    self.init(
      isLong ? Self.longQueue : Self.shortQueue, behaviour,
      // One long job in fifty outlives a lease.
      milliseconds: isLong ? (length < 20 ? 2000 : 10 + length / 5) : 0)
    if Int.random(in: 0..<100, using: &random) < 5 { delay = Double(Int.random(in: 1...20, using: &random)) / 10 }
    if Int.random(in: 0..<100, using: &random) < 8 { uniqueKey = "key \(Int.random(in: 0..<12, using: &random))" }
    if isLong && Int.random(in: 0..<100, using: &random) < 10 { limit = "pair" }
    if Int.random(in: 0..<100, using: &random) < 5 { share = "crowd" }
    isWithdrawn = Int.random(in: 0..<100, using: &random) < 3
    isCancellable = isLong && Int.random(in: 0..<100, using: &random) < 20
  }

  /// As the queue takes it.
  package func job(_ id: PublicID) throws -> NewJob {
    let author = isCancellable ? Self.cancellable : isPutOff ? Self.putOff : nil
    return NewJob(
      publicID: id, queue: queue, kind: queue, delay: isPutOff ? 3600 : delay, priority: priority,
      maxAttempts: attempts, deadlineSeconds: 60, uniqueKey: uniqueKey.map { Array($0.utf8) }, author: author,
      share: share.map { JobShare(name: $0, seconds: 0.01) }, limit: limit.map { JobLimit(name: $0, max: 2) },
      arguments: try JSON.encode(self))
  }

  /// What a claimed job carries.
  init(_ job: ClaimedJob) throws { self = try JSON.decode(ChaosJob.self, from: job.arguments) }
}
