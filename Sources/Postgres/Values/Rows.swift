internal import CPostgres

/// The rows that a statement returned, in order; not Sendable, so that they stay on the connection's thread.
package struct Rows: RandomAccessCollection {
  private let result: ResultHandle
  package let startIndex = 0
  package let endIndex: Int

  init(_ result: ResultHandle) {
    self.result = result
    endIndex = Int(PQntuples(result.pointer))
  }

  package subscript(position: Int) -> Row { Row(result: result, index: Int32(position)) }

  /// The number of rows that the statement inserted, updated, deleted or returned.
  package var affected: Int { Int(String(cString: PQcmdTuples(result.pointer))) ?? 0 }

  /// The only row; throws if there is none or more than one.
  package func single() throws(PostgresError) -> Row {
    guard count == 1 else {
      throw PostgresError(.decoding, "expected one row, got \(count)", statement: result.statement)
    }
    return self[0]
  }
}

/// One row of a result.
package struct Row {
  let result: ResultHandle
  let index: Int32

  /// Reads a column by its name; only an Optional type admits NULL.
  package func get<Value: ColumnValue>(
    _ column: String, as _: Value.Type = Value.self
  ) throws(PostgresError) -> Value {
    guard let number = result.columns[column] else {
      throw PostgresError(.decoding, "no column \(column) in the result", statement: result.statement)
    }
    return try get(number)
  }

  /// Reads a column by its index, from 0.
  package func get<Value: ColumnValue>(
    _ column: Int, as _: Value.Type = Value.self
  ) throws(PostgresError) -> Value {
    let number = Int32(column)
    let type = PQftype(result.pointer, number)
    var bytes: UnsafeRawBufferPointer?
    if PQgetisnull(result.pointer, index, number) == 0 {
      bytes = UnsafeRawBufferPointer(
        start: PQgetvalue(result.pointer, index, number), count: Int(PQgetlength(result.pointer, index, number)))
    }
    guard let value = Value(Cell(type: type, bytes: bytes)) else {
      let name = PQfname(result.pointer, number).map { String(cString: $0) } ?? "\(column)"
      throw PostgresError(
        .decoding, "column \(name) is \(bytes == nil ? "NULL" : "of type \(type)"), not \(Value.self)",
        statement: result.statement, remedy: "Cast it in the statement, or read it as an Optional")
    }
    return value
  }
}

/// A `PGresult`, which is freed with its last row.
final class ResultHandle {
  let pointer: OpaquePointer
  let statement: String
  /// The indexes of the columns by their names; of several with one name, the first. PQfnumber compares all names each time.
  private(set) lazy var columns = Dictionary(
    (0..<PQnfields(pointer)).map { (String(cString: PQfname(pointer, $0)), Int($0)) }
  ) { first, _ in first }

  init(_ pointer: OpaquePointer, statement: String) {
    self.pointer = pointer
    self.statement = statement
  }

  deinit { PQclear(pointer) }
}
