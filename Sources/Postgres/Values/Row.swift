internal import CPostgres

/// One row of a result; columns are read by name.
package struct Row {
  let result: ResultHandle
  let index: Int32

  /// Reads a column; the type asked for says what may come (an Optional admits NULL).
  package func get<Value: ColumnValue>(
    _ column: String, as _: Value.Type = Value.self
  ) throws(PostgresError) -> Value {
    let number = PQfnumber(result.pointer, "\"\(column)\"")
    guard number >= 0 else {
      throw PostgresError(.decoding, "there is no column \(column)", statement: result.statement)
    }
    return try get(Int(number))
  }

  /// Reads a column by its place, counted from 0.
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
