import Model
import Postgres
import Queue

extension Verifier {
  /// Reads each table from its first page to its last, so that the server finds pages that the disk has changed: without data
  /// checksums, only those whose headers are wrong. It does not read a page from the disk that it has in memory.
  func checkTables(_ report: inout VerifyReport) async throws {
    let (tables, hasChecksums) = try await pool.run { session in
      let tables = try session.execute(Integrity.statements["tables"]).map { row in
        (name: try row.get("name", as: String.self), relation: try row.get("relation", as: String.self))
      }
      return (tables, try session.execute(Integrity.statements["has_checksums"]).single().get(0, as: Bool.self))
    }
    report.checked.checksums = hasChecksums
    for (index, table) in tables.enumerated() {
      do {
        try await pool.transaction { session in
          try session.execute(Integrity.statements["read_sequentially"])
          try session.execute("SELECT count(*) FROM \(table.relation)")
        }
      } catch let error as PostgresError where error.isDamage {
        report.findings.append(Finding(.tableBroken, .table(table.name), .lost, detail: error.message))
      }
      report.checked.tables = index + 1
      reportProgress(.tables, Int64(index) + 1, of: Int64(tables.count))
    }
  }

  /// Asks the server for the pages with a wrong checksum that it has read, for whatever client.
  func checkChecksums(_ report: inout VerifyReport) async throws {
    let (failures, database) = try await pool.run { session -> (Int, String) in
      (try session.checksumFailures(), try session.execute("SELECT current_database()").single().get(0))
    }
    guard failures > 0 else { return }
    report.findings.append(
      Finding(
        .checksumFailures, .database(database), .lost,
        detail: "the server has read \(CountText.text(failures, "page")) with a wrong checksum"))
  }
}

extension PostgresError {
  /// Whether the server could not read its files: data_corrupted and other internal errors, or an error of the system.
  fileprivate var isDamage: Bool {
    sqlState.map { $0.hasPrefix("XX") || $0.hasPrefix("58") } ?? false
  }
}
