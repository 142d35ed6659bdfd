import CQueueSQL
package import Model
package import Platform
package import Postgres

/// The job queue of take5 in PostgreSQL: SQL statements that run on a session, alone or as part of the caller's
/// transaction.
///
/// It is not a general queue: its jobs have an author, a definition and the id of a request, and a job completes with
/// the verdict on its media, accepted or rejected. Execution is at least once; the effects of a job happen exactly once
/// if they are written in the transaction of its `complete`. All times are the server's. There is no session state, so
/// that the queue works behind a pooler in transaction mode.
package enum JobQueue {
  /// The statements that change jobs; a task-local value, so that a test can run with a broken statement.
  @TaskLocal static var statements = Statements(
    topic: "queue", QueueSQL.Fragments, QueueSQL.Enqueueing, QueueSQL.Attempts,
    QueueSQL.Workers, QueueSQL.Operating, QueueSQL.History)

  /// The queries of operators and clients, which change nothing.
  static let observing = Statements(
    topic: "queue", QueueSQL.Fragments, QueueSQL.Observing)

  /// Notifies workers that a job of a queue may be available, after the commit of the open transaction if there is one.
  ///
  /// PostgreSQL serializes the commits of all transactions that notify, so the notification is a transaction of its
  /// own.
  package static func notify(queue: String, _ session: Session) throws(PostgresError) {
    try notify([JobCall(queue)], session)
  }

  /// Notifies workers of several queues, as `notify(queue:)` does.
  package static func notify(queues: [String], _ session: Session) throws(PostgresError) {
    try notify(queues.map { JobCall($0) }, session)
  }

  /// Notifies the workers of calls, as `notify(queue:)` does.
  package static func notify(_ calls: [JobCall], _ session: Session) throws(PostgresError) {
    try session.executeAfterCommit(
      statements["notify_many"], .text(QueueChannel.jobs), .texts(calls.map(\.payload)))
  }

  /// Notifies the worker that makes due jobs available of one that is due later, after the commit of the open transaction if
  /// there is one: it may be due before all others.
  static func notifySchedule(_ session: Session) throws(PostgresError) {
    try session.executeAfterCommit(statements["notify"], .text(QueueChannel.schedule), .text(""))
  }

  /// Notifies clients that wait for a job of a change, after the commit of the open transaction if there is one.
  package static func notifyChange(of job: PublicID, _ session: Session) throws(PostgresError) {
    try session.executeAfterCommit(statements["notify"], .text(QueueChannel.changes), .text(job.description))
  }

  /// Notifies clients that wait for one of the jobs of a change, after the commit of the open transaction if there is
  /// one.
  package static func notifyChange(of jobs: [PublicID], _ session: Session) throws(PostgresError) {
    try session.executeAfterCommit(
      statements["notify_many"], .text(QueueChannel.changes), .texts(jobs.map(\.description)))
  }
}

/// The channels of the queue's notifications.
package enum QueueChannel {
  /// A job may be available; the payload encodes a `JobCall`.
  package static let jobs = "take5_jobs"
  /// A job is due at a later time.
  package static let schedule = "take5_schedule"
  /// The state or the progress of a job has changed; the payload is its public id.
  package static let changes = "take5_changes"
}

/// The migrations of the queue's schema.
package enum QueueMigrations {
  /// The tables that a transaction which ends a job locks first, in this order (decision 42).
  package static let lockedFirst = ["job", "job_progress"]

  /// A baseline, and later changes: the versions go on after the versions of the store and its rooms.
  package static let all = [
    Migration(baseline: 10, replacing: Array(1...7) + [9], name: "queue", [QueueSQL.Queue_schema]),
    Migration(version: 163, name: "worker_slots", QueueSQL.v0163_worker_slots),
    Migration(version: 165, name: "job_progress", QueueSQL.v0165_job_progress),
    Migration(version: 166, name: "set_aside", QueueSQL.v0166_set_aside),
    Migration(version: 179, name: "waiting_jobs", QueueSQL.v0179_waiting_jobs),
  ]
}

extension JobQueue {
  static let addPartition = Failpoint("queue.add_partition", isOnConnection: true)
  static let lockTimeout = Failpoint("queue.lock_timeout", isOnConnection: true)
  static let dropPartition = Failpoint("queue.drop_partition", isOnConnection: true)

  /// The failpoints before and after each statement.
  package static var failpoints: [Failpoint] {
    statements.failpoints + [addPartition, lockTimeout, dropPartition] + readingFailpoints
  }

  /// The failpoints of the queries of operators and clients, which change nothing.
  package static var readingFailpoints: [Failpoint] { observing.failpoints }
}
