import Platform
import Postgres
import Telemetry

extension SetAside {
  /// The largest number of rows of a table that the log names at a time.
  private static let maxLines = 20

  /// The task of one worker that counts what any process has set aside, and writes it to the log.
  ///
  /// - Parameter tables: their counts begin with 0.
  static func reporting(_ tables: [Table], _ metrics: WorkerMetrics, _ log: Logger) -> MaintenanceTask {
    for table in tables { metrics.setAside(table.name, rows: 0) }
    return MaintenanceTask("rows set aside", every: .seconds(60)) { pool in
      let noted = try await pool.transaction { session in
        try session.execute(statements["drop_tried"])
        return try session.execute(statements["report"]).map { row in
          (
            table: try row.get("relation", as: String.self), key: try row.get("row_key", as: String.self),
            error: try row.get("error", as: String.self)
          )
        }
      }
      for (table, rows) in Dictionary(grouping: noted, by: \.table) {
        metrics.setAside(table, rows: rows.count)
        for row in rows.prefix(maxLines) {
          log.error(
            "a row is set aside for an hour", ["table": table, "row": row.key, "error": row.error])
        }
        if rows.count > maxLines {
          log.error("further rows are set aside for an hour", ["table": table, "rows": "\(rows.count - maxLines)"])
        }
      }
    }
  }
}
