/// How much a server has on its hands at a moment.
package struct ServerLoad: Sendable, Hashable {
  /// Open connections.
  package let connections: Int
  /// Requests whose answers are not out.
  package let requests: Int
  /// Answers that are produced over time.
  package let streams: Int
}
