/// What a figure has to be.
enum Goal: Sendable, Hashable, CustomStringConvertible {
  case atMost(Double)
  case atLeast(Double)

  /// Whether a value is good enough.
  func isMet(by value: Double) -> Bool {
    switch self {
    case .atMost(let limit): value <= limit
    case .atLeast(let limit): value >= limit
    }
  }

  var description: String {
    switch self {
    case .atMost(let limit): "at most \(limit.text(decimals: 2))"
    case .atLeast(let limit): "at least \(limit.text(decimals: 2))"
    }
  }
}
