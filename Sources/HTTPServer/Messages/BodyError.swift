/// Why a request's body cannot be read to its end.
package enum BodyError: Error, Hashable {
  /// The client closed or lost the connection.
  case disconnected
  /// It is longer than the route allows, in bytes.
  case tooLarge(limit: Int64)
  /// The request took longer than the server allows.
  case deadlineExceeded
  /// The server stops, or the handler was cancelled.
  case cancelled
}
