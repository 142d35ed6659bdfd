import Model
import Queue
import SeededRandom

/// The arguments of a job of a run, and how it is enqueued.
struct ChaosJob: Sendable, Hashable, Codable {
  static let longQueue = "long"
  /// The queue of jobs that take no time.
  static let shortQueue = "short"
  /// The author of jobs that a producer may cancel while they run.
  static let cancellable = "cancellable"
  /// The author of jobs that wait until an operator retries them now.
  static let delayed = "delayed"
  /// The error of attempts that fail.
  static let error = "the job is meant to fail"

  var queue: String
  var behaviour: JobBehaviour
  /// The duration of an attempt.
  var milliseconds: Int
  /// The maximum number of attempts.
  var attempts = 5
  /// The delay before the job is available, in seconds.
  var delay: Double = 0
  var uniqueKey: String?
  /// The name of a limit of two jobs.
  var limit: String?
  /// The name of a fair share.
  var share: String?
  /// Whether the producer cancels the job immediately after it has enqueued it.
  var isCancelledAtOnce = false
  /// Whether producers may cancel the job while it runs.
  var isCancellable = false
  /// Whether the job waits until an operator retries it now.
  var isDelayed = false
  var priority = 5

  init(_ queue: String, _ behaviour: JobBehaviour = .completes, milliseconds: Int = 0) {
    self.queue = queue
    self.behaviour = behaviour
    self.milliseconds = milliseconds
    if behaviour == .failsAlways { attempts = 2 }
  }

  /// Creates the job for an id of a storm. The random part of the id determines the job, so that no other data is
  /// needed.
  init(of id: PublicID) {
    var random = SplitMix64(seed: UInt64(id.description.suffix(12), radix: 16) ?? 0)
    let isLong = Int.random(in: 0..<100, using: &random) < 15
    let behaviour: JobBehaviour =
      switch Int.random(in: 0..<1000, using: &random) {
      case ..<60: .failsOnce
      case ..<75: .failsAlways
      case ..<105: .rejects
      case ..<115: .cancelsItself
      case ..<135: .snoozesOnce
      default: .completes
      }
    let length = Int.random(in: 0..<1000, using: &random)
    self.init(
      isLong ? Self.longQueue : Self.shortQueue, behaviour,
      // One long job in fifty lasts as long as a lease.
      milliseconds: isLong ? (length < 20 ? 2000 : 10 + length / 5) : 0)
    if Int.random(in: 0..<100, using: &random) < 5 { delay = Double(Int.random(in: 1...20, using: &random)) / 10 }
    if Int.random(in: 0..<100, using: &random) < 8 { uniqueKey = "key \(Int.random(in: 0..<12, using: &random))" }
    if isLong && Int.random(in: 0..<100, using: &random) < 10 { limit = "pair" }
    if Int.random(in: 0..<100, using: &random) < 5 { share = "shared" }
    isCancelledAtOnce = Int.random(in: 0..<100, using: &random) < 3
    isCancellable = isLong && Int.random(in: 0..<100, using: &random) < 20
  }

  /// The job to enqueue.
  func job(_ id: PublicID) throws -> NewJob {
    let author = isCancellable ? Self.cancellable : isDelayed ? Self.delayed : nil
    return NewJob(
      publicID: id, queue: queue, kind: queue, delay: isDelayed ? 3600 : delay, priority: priority,
      maxAttempts: attempts, deadlineSeconds: 60, uniqueKey: uniqueKey.map { Array($0.utf8) }, author: author,
      share: share.map { JobShare(name: $0, seconds: 0.01) }, limit: limit.map { JobLimit(name: $0, max: 2) },
      arguments: try JSON.encode(self))
  }

  /// Decodes the arguments of a claimed job.
  init(_ job: ClaimedJob) throws { self = try JSON.decode(ChaosJob.self, from: job.arguments) }
}

/// The behaviour of a job of a run.
enum JobBehaviour: String, Sendable, Hashable, Codable, CaseIterable {
  /// The job completes.
  case completes
  /// The first attempt fails; the next one completes.
  case failsOnce
  /// Every attempt fails.
  case failsAlways
  /// The job ends with a rejection and has no effect.
  case rejects
  /// The first attempt in a process is snoozed; the next one completes.
  case snoozesOnce
  /// The job cancels itself while it runs.
  case cancelsItself
  /// The job sends SIGTERM to its worker, if the worker permits it.
  case stopsWorker
}
