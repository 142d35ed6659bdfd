internal import CPostgres

/// A `PGresult`, freed when the last row of it is gone.
final class ResultHandle {
  let pointer: OpaquePointer
  let statement: String

  init(_ pointer: OpaquePointer, statement: String) {
    self.pointer = pointer
    self.statement = statement
  }

  deinit { PQclear(pointer) }
}
