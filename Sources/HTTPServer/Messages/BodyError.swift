/// The reason why a request body cannot be read to its end.
package enum BodyError: Error, Hashable {
  /// The client closed or lost the connection.
  case disconnected
  /// The body is longer than the route allows, in bytes.
  case tooLarge(limit: Int64)
  /// The request took longer than the server allows.
  case deadlineExceeded
  /// The server is stopping, or the handler was cancelled.
  case cancelled
}
