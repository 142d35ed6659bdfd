package import Postgres

/// The days of the history, a partition each: what makes them and drops them waits for nobody who reads it.
///
/// A lock that is waited for holds up everybody who comes later and wants the table, however little he wants; and a dump
/// reads for hours. So nothing here waits for longer than a moment.
extension JobQueue {
  /// Makes the partitions for today and seven days to come; whether today and tomorrow have theirs.
  ///
  /// What cannot be made because somebody reads the history just now is left for the next time. A day whose history has
  /// begun in the rest's partition stays there: it cannot be moved while jobs end.
  @discardableResult
  package static func prepareHistory(_ session: Session) throws -> Bool {
    do {
      try session.transaction { session in
        try lockHistory(session)
        var script: [String] = []
        for day in try session.execute(statements["missing_days"]) {
          let name = try day.get("name", as: String.self)
          let first = try day.get("first", as: String.self)
          let next = try day.get("next", as: String.self)
          // PARTITION OF would lock the whole history against its readers and writers. ATTACH lets them be, and locks
          // the rest's partition alone; all days are attached in one go, so that it does so once.
          script.insert("CREATE TABLE \(name) (LIKE job_done INCLUDING ALL)", at: script.count / 2)
          script.append("ALTER TABLE job_done ATTACH PARTITION \(name) FOR VALUES FROM ('\(first)') TO ('\(next)')")
        }
        guard !script.isEmpty else { return }
        try session.executeScript(script.joined(separator: ";\n"), name: "queue.partition", failpoint: addPartition)
      }
    } catch let error as PostgresError where error.isLockTimeout || error.isCheckViolation {
      // A violated check: history of one of these days has just begun in the rest's partition.
    }
    for day in try session.execute(statements["missing_days"]) where try day.get("ahead", as: Int.self) <= 1 {
      return false
    }
    return true
  }

  /// Drops the days of the history that are older than so many days.
  ///
  /// A day that somebody reads just now is left for the next time: waiting for it would hold up whoever ends a job.
  package static func dropHistory(olderThanDays days: Int, _ session: Session) throws {
    do {
      for day in try session.execute(statements["expired_days"], .integer(days)) {
        let name = try day.get("name", as: String.self)
        try session.transaction { session in
          try lockHistory(session)
          try session.executeScript(
            "DROP TABLE IF EXISTS \(name)", name: "queue.drop_partition", failpoint: dropPartition)
        }
      }
    } catch let error as PostgresError where error.isLockTimeout {
      // The days after it are read by the same, a dump for instance.
    }
    try session.execute(statements["drop_rest"], .integer(days))
  }

  /// Keeps others from changing the partitions meanwhile, and this transaction from waiting for any lock.
  private static func lockHistory(_ session: Session) throws(PostgresError) {
    try session.executeScript(
      "SET LOCAL lock_timeout = '200ms'", name: "queue.lock_timeout", failpoint: lockTimeout)
    try session.execute(statements["lock_history"])
  }
}
