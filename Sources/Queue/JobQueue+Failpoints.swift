package import Platform
import Postgres

extension JobQueue {
  static let addPartition = Failpoint("queue.add_partition", isOnConnection: true)
  static let lockTimeout = Failpoint("queue.lock_timeout", isOnConnection: true)
  static let dropPartition = Failpoint("queue.drop_partition", isOnConnection: true)

  /// Every statement of the queue can be interrupted before and after.
  package static var failpoints: [Failpoint] {
    statements.failpoints + [addPartition, lockTimeout, dropPartition] + readingFailpoints
  }

  /// Those of what operators and clients read, which changes nothing.
  package static var readingFailpoints: [Failpoint] { operating.failpoints }
}
