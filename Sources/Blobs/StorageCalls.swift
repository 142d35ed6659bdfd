/// Which calls to a storage run on its threads, and whether the storage answers: the decisions of `StorageThreads`.
///
/// A call that hangs holds its thread, for nothing ends it. So that a storage which hangs does not let all threads, and then all
/// callers, wait one after the other, further calls are refused at once, but for one at a time that finds out whether the
/// storage answers again.
struct StorageCalls {
  typealias Instant = ContinuousClock.Instant

  /// What becomes of a new call.
  enum Admission: Hashable {
    /// It runs on a new thread.
    case start(Int)
    /// It runs on the next thread that is free.
    case wait(Int)
    case refuse
  }

  /// How a call has ended.
  enum Ending {
    case answered
    /// The storage is away: it was not reached, or has not replied.
    case unanswered
    /// It was not made, because no task waits for it any more.
    case dropped
  }

  private let threads: Int
  private let maxWaiting: Int
  private let limit: Duration
  /// The time after which a failure is one of a storage that hangs. One that refuses at once holds no thread.
  private static let slow = Duration.seconds(1)

  private var last = 0
  private var running: [Int: Instant] = [:]
  private var waiting: [Int] = []
  private var answeredAt: Instant?
  private var hasFailed = false

  /// - Parameters:
  ///   - threads: the largest number of calls that run.
  ///   - maxWaiting: the largest number of calls that wait for a thread.
  ///   - limit: the time after which a call hangs, unless others that began later have ended.
  init(threads: Int, maxWaiting: Int, limit: Duration) {
    self.threads = threads
    self.maxWaiting = maxWaiting
    self.limit = limit
  }

  mutating func admit(at now: Instant) -> Admission {
    let overdue = running.values.filter { $0 + limit <= now }
    if isStalled(overdue) {
      // Of the calls since the storage hangs, one at a time.
      return running.count < threads && overdue.count == running.count ? .start(begin(at: now)) : .refuse
    }
    if running.count < threads { return .start(begin(at: now)) }
    guard waiting.count < maxWaiting else { return .refuse }
    last &+= 1
    waiting.append(last)
    return .wait(last)
  }

  /// Ends a call; returns the one that its thread runs next.
  mutating func end(_ call: Int, _ ending: Ending, at now: Instant) -> Int? {
    guard let start = running.removeValue(forKey: call) else { return nil }
    switch ending {
    case .answered: (answeredAt, hasFailed) = (now, false)
    case .unanswered: if start.duration(to: now) >= Self.slow, (answeredAt ?? start) <= start { hasFailed = true }
    case .dropped: break
    }
    guard !waiting.isEmpty else { return nil }
    let next = waiting.removeFirst()
    running[next] = now
    return next
  }

  private func isStalled(_ overdue: [Instant]) -> Bool {
    hasFailed || overdue.count == threads || overdue.contains { start in (answeredAt ?? start) <= start }
  }

  private mutating func begin(at now: Instant) -> Int {
    last &+= 1
    running[last] = now
    return last
  }
}
