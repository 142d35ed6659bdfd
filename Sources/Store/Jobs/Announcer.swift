import Postgres
import Queue

/// Wakes workers after a commit: those who ask while it is at it are served together by the next notification.
///
/// A notification inside the producers' transactions would make their commits wait for each other.
actor Announcer {
  private let pool: Pool
  private var pending: Set<String> = []
  private var isRunning = false

  init(_ pool: Pool) { self.pool = pool }

  /// Says that a queue may have a job. A notification that fails is made up for by the workers' polling.
  func announce(_ queue: String) async {
    pending.insert(queue)
    guard !isRunning else { return }
    isRunning = true
    while !pending.isEmpty {
      let queues = pending
      pending = []
      _ = try? await pool.run(patience: .zero) { session in
        for queue in queues { try JobQueue.announce(queue: queue, session) }
      }
    }
    isRunning = false
  }
}
