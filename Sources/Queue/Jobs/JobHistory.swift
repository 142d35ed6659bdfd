package import Postgres

/// The partitions of `job_done`, one for each day.
///
/// A lock request that waits blocks all later requests for the same table, even those that do not conflict with the
/// lock held, and pg_dump may hold its lock for hours. So these functions wait for a lock for 200 ms at most and leave
/// the rest for the next run.
package enum JobHistory {
  /// Creates the partitions for today and the next seven days; returns whether today and tomorrow have theirs.
  ///
  /// Partitions that cannot be created because a reader has locked the history are left for the next run. A day whose
  /// history has started in the default partition stays there: moving rows would block jobs that end.
  @discardableResult
  package static func prepare(_ pool: Pool) async throws -> Bool {
    do {
      try await pool.transaction(addPartitions)
    } catch let error as PostgresError where error.isLockTimeout || error.isCheckViolation {
      // A check violation: the history of one of the days has just started in the default partition.
    }
    return try await pool.run { session in
      for day in try session.execute(JobQueue.statements["missing_days"]) where try day.get("ahead", as: Int.self) <= 1
      {
        return false
      }
      return true
    }
  }

  /// Creates the partitions for today and the next seven days in the caller's transaction, which fails if it has to wait.
  package static func addPartitions(_ session: Session) throws {
    try lock(session)
    var script: [String] = []
    for day in try session.execute(JobQueue.statements["missing_days"]) {
      let name = try day.get("name", as: String.self)
      let first = try day.get("first", as: String.self)
      let next = try day.get("next", as: String.self)
      // PARTITION OF takes an ACCESS EXCLUSIVE lock on job_done. ATTACH takes one on the default partition only;
      // all days are attached in one script, so that it does so once.
      script.insert("CREATE TABLE \(name) (LIKE job_done INCLUDING ALL)", at: script.count / 2)
      script.append("ALTER TABLE job_done ATTACH PARTITION \(name) FOR VALUES FROM ('\(first)') TO ('\(next)')")
    }
    guard !script.isEmpty else { return }
    try session.executeScript(
      script.joined(separator: ";\n"), name: "queue.partition", failpoint: JobQueue.addPartition)
  }

  /// Drops the partitions that are older than a number of days; a partition that a reader has locked is left for the
  /// next run.
  package static func drop(olderThanDays days: Int, _ pool: Pool) async throws {
    do {
      let names = try await pool.run { session in
        try session.execute(JobQueue.statements["expired_days"], .integer(days)).map {
          try $0.get("name", as: String.self)
        }
      }
      for name in names {
        try await pool.transaction { session in
          try lock(session)
          try session.executeScript(
            "DROP TABLE IF EXISTS \(name)", name: "queue.drop_partition", failpoint: JobQueue.dropPartition)
        }
      }
    } catch let error as PostgresError where error.isLockTimeout {
      // The reader, such as pg_dump, has locked the other partitions as well.
    }
    try await pool.transaction { session in _ = try session.execute(JobQueue.statements["drop_rest"], .integer(days)) }
  }

  /// Deletes jobs that died more than a number of days ago.
  package static func dropDead(olderThanDays days: Int, _ session: Session) throws(PostgresError) {
    while try session.execute(JobQueue.statements["drop_dead"], .integer(days)).affected > 0 {}
  }

  /// Serializes changes of the partitions, and limits the time that this transaction waits for a lock.
  private static func lock(_ session: Session) throws(PostgresError) {
    try session.executeScript(
      "SET LOCAL lock_timeout = '200ms'", name: "queue.lock_timeout", failpoint: JobQueue.lockTimeout)
    try session.execute(JobQueue.statements["lock_history"])
  }
}
