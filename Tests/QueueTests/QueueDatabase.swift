import Model
import Postgres
import PostgresTesting
import Queue

/// A database with the queue's schema, and jobs to fill it with.
enum QueueDatabase {
  static let template = TestTemplate(name: "queue") { session in
    try Migrator(QueueMigrations.all).migrate(session)
    try JobQueue.prepareHistory(session)
  }

  static func job(_ kind: String = "post", maxAttempts: Int = 5, delay: Double = 0, key: [UInt8]? = nil) -> NewJob {
    NewJob(
      publicID: .now(), queue: "media", kind: kind, delay: delay, maxAttempts: maxAttempts, deadlineSeconds: 60,
      uniqueKey: key, author: "ada", arguments: Array(#"{"post":"1"}"#.utf8))
  }
}
