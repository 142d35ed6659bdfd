package import Platform
import Postgres

extension JobQueue {
  static let partition = Failpoint("queue.partition", isOnConnection: true)

  /// Every statement of the queue can be interrupted before and after.
  package static var failpoints: [Failpoint] { statements.failpoints + [partition] }
}
