package import Platform
package import Postgres
import Queue

/// What a run of chaos has in its database beside the queue.
package enum ChaosSchema {
  package static let statements = Statements(topic: "chaos", PackageResources.Chaos_sql)

  /// The tables of the application, and the witnesses; they come after the queue's own.
  package static let migration = Migration(version: 9000, name: "chaos", PackageResources.v9000_chaos_sql)

  /// Makes them all.
  package static func migrate(_ session: Session) throws {
    try Migrator(QueueMigrations.all + [migration]).migrate(session)
    try JobQueue.prepareHistory(session)
  }

  /// All that can be interrupted in the programs of a run.
  package static var failpoints: [Failpoint] {
    Failpoint.connections + JobQueue.failpoints + statements.failpoints
  }
}
