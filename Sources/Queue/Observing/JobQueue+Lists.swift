package import Model
package import Postgres

/// Jobs as operators and clients see them, wherever they stand.
extension JobQueue {
  static let operating = Statements(topic: "queue", PackageResources.Operating_sql)

  /// Reads a job by its public id; nil if there is none.
  package static func find(_ id: PublicID, _ session: Session) throws(PostgresError) -> JobRecord? {
    try find([id], session).first
  }

  /// Reads jobs by their public ids, in no particular order.
  package static func find(_ ids: [PublicID], _ session: Session) throws(PostgresError) -> [JobRecord] {
    guard !ids.isEmpty else { return [] }
    var selection = JobSelection(JobFilter(ids: ids))
    let found = try records(selection.found(), selection, session)
    guard found.count < ids.count else { return found }
    // Made by a clock that was far ahead, or not there: the whole history tells.
    let rest = Set(ids).subtracting(found.map(\.publicID))
    guard !rest.isEmpty else { return found }
    selection = JobSelection(JobFilter(ids: Array(rest)), trustsIDs: false)
    return try found + records(selection.found(), selection, session)
  }

  /// Lists jobs, the newest first.
  package static func list(_ filter: JobFilter, _ session: Session) throws(PostgresError) -> [JobRecord] {
    var selection = JobSelection(filter)
    return try records(selection.records(), selection, session)
  }

  /// How many jobs there are of a filter, whatever its limit.
  package static func count(_ filter: JobFilter, _ session: Session) throws(PostgresError) -> Int {
    var selection = JobSelection(filter)
    let statement = selection.count()
    return try session.execute(statement, selection.parameters).single().get("jobs")
  }

  /// How the server reads a list: its plan with the blocks that were touched, a line each.
  package static func explain(_ filter: JobFilter, _ session: Session) throws(PostgresError) -> [String] {
    var selection = JobSelection(filter)
    let statement = selection.records()
    let explained = Statement(
      name: "explain." + statement.name, text: "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF) " + statement.text)
    var lines: [String] = []
    for row in try session.execute(explained, selection.parameters) { lines.append(try row.get("QUERY PLAN")) }
    return lines
  }

  private static func records(
    _ statement: Statement, _ selection: JobSelection, _ session: Session
  ) throws(PostgresError) -> [JobRecord] {
    var jobs: [JobRecord] = []
    for row in try session.execute(statement, selection.parameters) { jobs.append(try JobRecord(row)) }
    return jobs
  }
}
