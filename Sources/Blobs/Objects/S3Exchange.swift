/// One request to the store that has ended; a request that is repeated is one for each attempt.
package struct S3Exchange: Sendable {
  /// The result of a request, as a caller sees it.
  package enum Result: String, Sendable, CaseIterable {
    case ok
    /// The object does not exist.
    case missing
    /// The object exists, or has changed: the condition of the request does not hold.
    case condition
    /// The store wants fewer requests.
    case throttled
    /// The store refuses the request, for instance because of its signature.
    case refused
    /// The store has failed.
    case failed
    /// There was no response.
    case unreachable
  }

  /// `get`, `put`, `head`, `delete`, `post` or `list`.
  package let operation: String
  package let result: Result
  /// The status and the code of a refusal, such as `403 AccessDenied`, which no repetition mends; nil: there is none.
  package let refusal: String?
  package let start: ContinuousClock.Instant
  package let end: ContinuousClock.Instant

  init(_ method: String, _ key: String, _ status: Int?, _ refusal: String? = nil, since start: ContinuousClock.Instant)
  {
    operation = method == "GET" && key.isEmpty ? "list" : method.lowercased()
    self.start = start
    end = .now
    result =
      switch status {
      case nil: .unreachable
      case .some(200..<300): .ok
      case 404: .missing
      case 412: .condition
      case 429, 503: .throttled
      case .some(500...): .failed
      default: .refused
      }
    self.refusal = result == .refused ? refusal : nil
  }
}
