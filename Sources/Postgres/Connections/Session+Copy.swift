internal import CPostgres
import Platform

extension Session {
  /// What is gathered before it is sent: the server is to be at work on it while the next rows are made.
  private static let piece = 32 << 10

  /// Puts rows into a table by a `COPY … FROM STDIN` statement, in the caller's transaction or one of its own.
  ///
  /// - Parameters:
  ///   - count: how many rows.
  ///   - row: makes the row of that number, from 0 on: `begin`, then a value for each column.
  package func copy(
    _ count: Int, columns: Int, by statement: Statement, _ row: (Int, inout CopiedRows) -> Void
  ) throws(PostgresError) {
    guard Failpoints.areArmed, let failpoint = statement.failpoint else {
      return try send(count, columns, by: statement, row)
    }
    try interruptible(failpoint) { () throws(PostgresError) in try send(count, columns, by: statement, row) }
  }

  private func send(
    _ count: Int, _ columns: Int, by statement: Statement, _ row: (Int, inout CopiedRows) -> Void
  ) throws(PostgresError) {
    try drainPipeline()
    _ = try check(PQexec(handle, statement.text), statement.name)
    var rows = CopiedRows(columns: columns)
    var isSent = true
    for number in 0..<count where isSent {
      row(number, &rows)
      if rows.content.count >= Self.piece { isSent = send(&rows) }
    }
    rows.end()
    guard isSent, send(&rows), PQputCopyEnd(handle, nil) == 1 else {
      throw PostgresError(.connectionLost, PostgresError.lastMessage(of: handle), statement: statement.name)
    }
    // The result of the copy, and the end of results.
    defer { while let more = PQgetResult(handle) { PQclear(more) } }
    _ = try check(PQgetResult(handle), statement.name)
  }

  private func send(_ rows: inout CopiedRows) -> Bool {
    let isSent = rows.content.withUnsafeBytes { bytes in
      PQputCopyData(handle, bytes.assumingMemoryBound(to: CChar.self).baseAddress, Int32(bytes.count)) == 1
    }
    rows.clear()
    return isSent
  }
}
