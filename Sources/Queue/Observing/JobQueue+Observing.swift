package import FoundationEssentials
package import Model
package import Postgres

/// Statistics of the queue.
extension JobQueue {
  /// The numbers of live and dead jobs, by queue, kind and state.
  package static func depths(_ session: Session) throws(PostgresError) -> [QueueDepth] {
    var depths: [QueueDepth] = []
    for row in try session.execute(observing["depths"]) {
      guard let state = JobState(rawValue: try row.get("state")) else { continue }
      depths.append(
        QueueDepth(
          queue: try row.get("queue"), kind: try row.get("kind"), state: state, jobs: try row.get("jobs"),
          oldestSeconds: try row.get("oldest"), attempts: try row.get("attempts"), lost: try row.get("lost")))
    }
    return depths
  }

  /// The jobs of more than an hour ago that wait after an attempt, such as jobs that no worker can read; nil: there are none.
  package static func stalled(_ session: Session) throws(PostgresError) -> StalledJobs? {
    guard let row = try session.execute(observing["stalled"]).first else { return nil }
    return StalledJobs(jobs: try row.get("jobs"), oldest: try row.publicID("oldest"), error: try row.get("error"))
  }

  /// The outcomes of the jobs that ended within the last seconds, by kind; reads the history of that time.
  package static func finished(withinSeconds seconds: Double, _ session: Session) throws(PostgresError)
    -> [FinishedJobs]
  {
    var kinds: [FinishedJobs] = []
    for row in try session.execute(observing["finished"], .double(seconds)) { kinds.append(try FinishedJobs(row)) }
    return kinds
  }

  /// The registered workers, including workers whose lease has expired.
  package static func workers(_ session: Session) throws(PostgresError) -> [WorkerRecord] {
    var workers: [WorkerRecord] = []
    for row in try session.execute(observing["workers"]) { workers.append(try WorkerRecord(row)) }
    return workers
  }

  /// What holds back the removal of dead rows in the database, and the numbers of rows in the queue's tables.
  ///
  /// A role without `pg_monitor` sees only its own sessions.
  package static func health(_ session: Session) throws(PostgresError) -> QueueHealth {
    var holders: [HorizonHolder] = []
    for row in try session.execute(observing["horizon"]) { holders.append(try HorizonHolder(row)) }
    var tables: [TableRows] = []
    for row in try session.execute(observing["tables"]) {
      tables.append(TableRows(table: try row.get("name"), live: try row.get("live"), dead: try row.get("dead")))
    }
    return QueueHealth(holders: holders, tables: tables)
  }
}

/// The jobs of one queue, kind and state.
package struct QueueDepth: Encodable, Sendable, Hashable {
  package let queue: String
  package let kind: String
  package let state: JobState
  package let jobs: Int
  /// The time since the oldest job became available, or since it died.
  package let oldestSeconds: Double
  /// The attempts of all these jobs.
  package let attempts: Int
  /// The losses of workers of all these jobs.
  package let lost: Int
}

/// Jobs that wait long after an attempt.
package struct StalledJobs: Sendable, Hashable {
  package let jobs: Int
  package let oldest: PublicID
  /// What the last attempt of the oldest has said.
  package let error: String

  package init(jobs: Int, oldest: PublicID, error: String) {
    self.jobs = jobs
    self.oldest = oldest
    self.error = error
  }
}

/// The outcomes of the jobs of one kind within a time.
package struct FinishedJobs: Sendable, Hashable {
  package let kind: String
  package let accepted: Int
  package let rejected: Int
  package let cancelled: Int
  /// The attempts of all these jobs.
  package let attempts: Int
  /// The losses of workers of all these jobs.
  package let lost: Int
  /// Percentiles of the duration of the last attempt, without cancelled jobs, in seconds; nil if there are no such
  /// jobs.
  package let p50: Double?
  package let p95: Double?
  package let p99: Double?

  init(_ row: Row) throws(PostgresError) {
    kind = try row.get("kind")
    accepted = try row.get("accepted")
    rejected = try row.get("rejected")
    cancelled = try row.get("cancelled")
    attempts = try row.get("attempts")
    lost = try row.get("lost")
    p50 = try row.get("p50")
    p95 = try row.get("p95")
    p99 = try row.get("p99")
  }

  package var jobs: Int { accepted + rejected + cancelled }
}

/// A registered worker, as operators see it.
package struct WorkerRecord: Sendable, Hashable {
  package let id: Int64
  package let host: String
  package let process: Int
  package let startedAt: Date
  /// The age of the last heartbeat.
  package let heartbeatAgeSeconds: Double
  /// Whether its lease has not expired.
  package let isAlive: Bool
  /// The number of jobs that the worker holds.
  package let jobs: Int
  /// The number of jobs that it performs at the same time, in all its queues; nil for a worker of an earlier version.
  package let slots: Int?
  /// What it has done within the last hour, as of that heartbeat; empty for a worker whose figures have the form of another version.
  package let recent: RecentAttempts

  init(_ row: Row) throws(PostgresError) {
    id = try row.get("id")
    host = try row.get("host")
    process = try row.get("process")
    startedAt = Date(microseconds: try row.get("started_at"))
    heartbeatAgeSeconds = try row.get("silence")
    isAlive = try row.get("is_alive")
    jobs = try row.get("jobs")
    slots = try row.get("slots")
    recent = RecentAttempts(written: try row.get("recent", as: String?.self))
  }
}
