import Postgres
import Store

extension Verifier {
  private static let rowsPage = 1000

  /// Runs the checks of all rooms, such as checks of counters.
  func checkRooms(_ report: inout VerifyReport) async throws {
    let checks = store.rooms.flatMap { $0.checks }
    for (index, check) in checks.enumerated() {
      var position = ""
      while true {
        let page = try await page(of: check, after: position)
        if let counted = check.counted { report.checked.count(page.rows, of: counted) }
        report.findings += page.findings
        guard page.rows == Self.rowsPage else { break }
        position = page.last
      }
      reportProgress(.people, Int64(index) + 1, of: Int64(checks.count))
    }
  }

  private func page(
    of check: RowCheck, after position: String
  ) async throws -> (rows: Int, last: String, findings: [Finding]) {
    try await pool.run { session in
      let rows = Array(try session.execute(check.statement, .text(position), .integer(Self.rowsPage)))
      let findings = try rows.compactMap { row -> Finding? in
        guard let code = try row.get("code", as: String?.self) else { return nil }
        return Finding(
          try FindingCode(stored: code), .row(kind: check.kind, id: try row.get("id")), .fault,
          detail: try row.get("detail"))
      }
      return (rows.count, try rows.last?.get("position") ?? position, findings)
    }
  }
}

extension FindingCode {
  fileprivate init(stored text: String) throws(PostgresError) {
    guard let code = FindingCode(rawValue: text) else { throw PostgresError(.decoding, "unknown finding '\(text)'") }
    self = code
  }
}
