package import Platform

/// One finished request, for the access log.
package struct AccessRecord: Sendable {
  package let requestID: RequestID
  /// Empty where the request line could not be read.
  package let method: String
  /// Without the query, which may hold what no log should.
  package let path: String
  /// The template of the route that answered, such as `/v1/posts/{id}`; nil where none did.
  package let route: String?
  /// Where the client is; behind a trusted proxy whom that one names.
  package let client: IPAddress
  /// The status sent; 499 when the client left before an answer.
  package let status: Int
  /// The length of the answer's body in bytes, whether or not all of it arrived.
  package let bytes: Int64
  /// From the end of the head to the end of the answer.
  package let duration: Duration
  /// Whether the answer was sent to its end.
  package let isComplete: Bool

  /// The duration in milliseconds.
  package var milliseconds: Double {
    let (seconds, attoseconds) = duration.components
    return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
  }
}
