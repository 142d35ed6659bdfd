/// What came of a storm over the real programs.
package struct ServiceReport: Sendable {
  package let configuration: ServiceStorm.Configuration
  package let posts: Int
  package let faults: [FaultKind: Int]
  package let duration: Duration
  /// Empty when all is well.
  package let violations: [String]

  /// What it came to, a name and a value each.
  package var figures: [(name: String, value: String)] {
    [
      ("posts", "\(posts), each submitted until it was answered, then once more"),
      ("faults", FaultKind.text(faults)),
      ("duration", "\(Int(duration / .seconds(1))) s"),
      ("not ready, or made twice", violations.isEmpty ? "none" : "\(violations.count) violations"),
    ]
  }
}
