internal import CPostgres

extension Session {
  /// Asks whether the server is there, by the end of a pipeline without statements, which is no transaction. The session executes nothing from
  /// then on.
  func ask() throws(PostgresError) {
    let isReady = PQpipelineStatus(handle) != PQ_PIPELINE_OFF || PQenterPipelineMode(handle) == 1
    guard isReady, PQpipelineSync(handle) == 1 else {
      throw PostgresError(.connectionLost, PostgresError.lastMessage(of: handle))
    }
  }

  /// Whether the answer is among what `nextNotification()` has received; does not wait.
  func hasAnswered() -> Bool {
    guard PQisBusy(handle) == 0, let result = PQgetResult(handle) else { return false }
    defer { PQclear(result) }
    return PQresultStatus(result) == PGRES_PIPELINE_SYNC
  }
}
