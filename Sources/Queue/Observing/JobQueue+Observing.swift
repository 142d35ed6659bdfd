import Model
package import Postgres

/// How the queue stands, as a whole.
extension JobQueue {
  /// How many jobs stand where.
  package static func depths(_ session: Session) throws(PostgresError) -> [QueueDepth] {
    var depths: [QueueDepth] = []
    for row in try session.execute(operating["depths"]) {
      guard let state = JobState(rawValue: try row.get("state")) else { continue }
      depths.append(
        QueueDepth(
          queue: try row.get("queue"), kind: try row.get("kind"), state: state, jobs: try row.get("jobs"),
          oldestSeconds: try row.get("oldest"), attempts: try row.get("attempts"), lost: try row.get("lost")))
    }
    return depths
  }

  /// What became of jobs within the last so many seconds, by kind. It reads the history of that time.
  package static func finished(withinSeconds seconds: Double, _ session: Session) throws(PostgresError)
    -> [FinishedJobs]
  {
    var kinds: [FinishedJobs] = []
    for row in try session.execute(operating["finished"], .double(seconds)) { kinds.append(try FinishedJobs(row)) }
    return kinds
  }

  /// The workers that have not ended in order, alive or not.
  package static func workers(_ session: Session) throws(PostgresError) -> [WorkerRecord] {
    var workers: [WorkerRecord] = []
    for row in try session.execute(operating["workers"]) { workers.append(try WorkerRecord(row)) }
    return workers
  }

  /// What keeps dead rows in the queue's tables, and how many there are.
  ///
  /// A role without `pg_monitor` sees its own sessions alone.
  package static func health(_ session: Session) throws(PostgresError) -> QueueHealth {
    var holders: [HorizonHolder] = []
    for row in try session.execute(operating["horizon"]) { holders.append(try HorizonHolder(row)) }
    var tables: [TableRows] = []
    for row in try session.execute(operating["tables"]) {
      tables.append(TableRows(table: try row.get("name"), live: try row.get("live"), dead: try row.get("dead")))
    }
    return QueueHealth(holders: holders, tables: tables)
  }
}
