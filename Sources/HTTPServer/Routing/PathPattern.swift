/// A path with places for values, such as `/v1/posts/{id}`.
struct PathPattern: Sendable, Hashable {
  private enum Segment: Sendable, Hashable {
    case literal(String)
    case capture(String)
  }

  private let segments: [Segment]

  init(_ pattern: String) {
    segments = pattern.split(separator: "/").map { segment in
      segment.hasPrefix("{") && segment.hasSuffix("}")
        ? .capture(String(segment.dropFirst().dropLast())) : .literal(String(segment))
    }
  }

  /// What the places hold when the path fits, nil when it does not; a place is never empty.
  func match(_ path: [String]) -> [String: String]? {
    guard path.count == segments.count else { return nil }
    var values: [String: String] = [:]
    for (segment, part) in zip(segments, path) {
      switch segment {
      case .literal(let text): if text != part { return nil }
      case .capture(let name):
        if part.isEmpty { return nil }
        values[name] = part
      }
    }
    return values
  }

  /// How many segments are literal; of two patterns that fit, the one with more of them is meant.
  var specificity: Int {
    segments.count { if case .literal = $0 { true } else { false } }
  }
}
