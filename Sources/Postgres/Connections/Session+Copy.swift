internal import CPostgres
import Platform

extension Session {
  /// Puts rows into a table by a `COPY … FROM STDIN` statement, in the caller's transaction or one of its own.
  package func copy(_ rows: CopiedRows, by statement: Statement) throws(PostgresError) {
    guard Failpoints.areArmed, let failpoint = statement.failpoint else { return try send(rows, by: statement) }
    try interruptible(failpoint) { () throws(PostgresError) in try send(rows, by: statement) }
  }

  private func send(_ rows: CopiedRows, by statement: Statement) throws(PostgresError) {
    var rows = rows
    rows.end()
    _ = try check(PQexec(handle, statement.text), statement.name)
    let sent = rows.content.withUnsafeBytes { bytes -> Bool in
      var rest = bytes[...]
      // libpq counts in Int32, and a piece that is not too large is sent while the next is prepared.
      while !rest.isEmpty {
        let piece = rest.prefix(1 << 20)
        let pointer = UnsafeRawBufferPointer(rebasing: piece).assumingMemoryBound(to: CChar.self).baseAddress
        guard PQputCopyData(handle, pointer, Int32(piece.count)) == 1 else { return false }
        rest = rest.dropFirst(piece.count)
      }
      return PQputCopyEnd(handle, nil) == 1
    }
    guard sent else {
      throw PostgresError(.connectionLost, PostgresError.lastMessage(of: handle), statement: statement.name)
    }
    // The result of the copy, and the end of results.
    defer { while let more = PQgetResult(handle) { PQclear(more) } }
    _ = try check(PQgetResult(handle), statement.name)
  }
}
