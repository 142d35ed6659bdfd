/// What came of a storm over the real programs.
package struct ServiceReport: Sendable {
  package let configuration: ServiceStorm.Configuration
  package let posts: Int
  package let faults: Int
  package let duration: Duration
  /// Empty when all is well.
  package let violations: [String]

  /// For a reader.
  package var lines: [String] {
    [
      "seed: \(configuration.seed)", "posts: \(posts), each submitted until it was answered, then once more",
      "faults: \(faults)", "duration: \(Int(duration / .seconds(1))) s",
      violations.isEmpty ? "every post is ready, exactly once" : "VIOLATIONS: \(violations.count)",
    ] + violations.prefix(30)
  }
}
