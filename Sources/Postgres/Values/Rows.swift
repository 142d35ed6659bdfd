internal import CPostgres

/// The rows a statement returned, in order; they stay on the connection's thread.
package struct Rows: RandomAccessCollection {
  private let result: ResultHandle
  package let startIndex = 0
  package let endIndex: Int

  init(_ result: ResultHandle) {
    self.result = result
    endIndex = Int(PQntuples(result.pointer))
  }

  package subscript(position: Int) -> Row { Row(result: result, index: Int32(position)) }

  /// How many rows the statement inserted, updated, deleted or returned.
  package var affected: Int { Int(String(cString: PQcmdTuples(result.pointer))) ?? 0 }

  /// The only row; an error if there is none or more than one.
  package func single() throws(PostgresError) -> Row {
    guard count == 1 else {
      throw PostgresError(.decoding, "one row expected, \(count) came", statement: result.statement)
    }
    return self[0]
  }
}
