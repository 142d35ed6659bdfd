internal import CPostgres
import Platform

extension Session {
  /// The number of bytes that are buffered before they are sent, so that the server works while the next rows are made.
  private static let chunkSize = 32 << 10

  /// Inserts rows by a `COPY … FROM STDIN` statement, in the caller's transaction or one of its own.
  ///
  /// - Parameters:
  ///   - count: the number of rows.
  ///   - row: appends the row with an index from 0: `begin`, then a value for each column.
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
    try sendBegin()
    _ = try check(PQexec(handle, statement.text), statement.name)
    var rows = CopiedRows(columns: columns)
    var isSent = true
    for index in 0..<count where isSent {
      row(index, &rows)
      if rows.content.count >= Self.chunkSize { isSent = send(&rows) }
    }
    rows.end()
    guard isSent, send(&rows), PQputCopyEnd(handle, nil) == 1 else {
      throw PostgresError(.connectionLost, PostgresError.lastMessage(of: handle), statement: statement.name)
    }
    // After the result of COPY libpq returns the end of results.
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

/// Rows of a `COPY … FROM STDIN WITH (FORMAT binary)` (PostgreSQL manual, COPY, "Binary Format").
package struct CopiedRows: Sendable {
  private(set) var content: [UInt8] = []
  private let columns: Int16

  init(columns: Int) {
    self.columns = Int16(columns)
    content += [0x50, 0x47, 0x43, 0x4F, 0x50, 0x59, 0x0A, 0xFF, 0x0D, 0x0A, 0x00]  // the signature
    put(Int32(0))  // no flags
    put(Int32(0))  // no header extension
  }

  /// Begins a row.
  package mutating func begin() { put(columns) }

  /// Appends a `smallint`, `int` or `bigint`, as wide as the value.
  package mutating func integer(_ value: some FixedWidthInteger) {
    put(Int32(value.bitWidth / 8))
    put(value)
  }

  /// Appends text or `"char"`.
  package mutating func text(_ value: String?) {
    guard var value = value?.withoutNUL else { return put(Int32(-1)) }
    value.withUTF8 { put($0) }
  }

  /// Appends a `bytea`.
  package mutating func bytes(_ value: [UInt8]?) {
    guard let value else { return put(Int32(-1)) }
    value.withUnsafeBufferPointer { put($0) }
  }

  /// Appends a `jsonb` from its text.
  package mutating func json(_ text: [UInt8]) {
    put(Int32(text.count + 1))
    content.append(1)  // the version of the format (jsonb_recv in the server's jsonb.c)
    content += text
  }

  /// Appends a `uuid`.
  package mutating func uuid(high: UInt64, low: UInt64) {
    put(Int32(16))
    put(high)
    put(low)
  }

  /// Appends a `timestamptz`, in microseconds since 1970-01-01 UTC.
  package mutating func timestamp(microseconds: Int64) { integer(microseconds - TypeOID.postgresEpoch) }

  /// Removes rows that were sent.
  mutating func clear() { content.removeAll(keepingCapacity: true) }

  /// Appends the trailer.
  mutating func end() { put(Int16(-1)) }

  private mutating func put(_ bytes: UnsafeBufferPointer<UInt8>) {
    put(Int32(bytes.count))
    content += bytes
  }

  private mutating func put(_ value: some FixedWidthInteger) {
    withUnsafeBytes(of: value.bigEndian) { content.append(contentsOf: $0) }
  }
}
