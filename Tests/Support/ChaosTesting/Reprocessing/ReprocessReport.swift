/// What came of a storm over reprocessing.
package struct ReprocessReport: Sendable {
  package let configuration: ReprocessStorm.Configuration
  /// How many of each kind, by its title.
  package let media: [(title: String, count: Int)]
  /// How many runs there were, and what became of their items.
  package let runs: Int
  package let done: Int
  package let skipped: Int
  /// How many processes were killed, by what they were.
  package let kills: [(title: String, count: Int)]
  package let attempts: Int
  package let lost: Int
  /// What readers read meanwhile.
  package let readMedia: Int
  package let readFiles: Int
  package let duration: Duration
  /// Empty when all is well.
  package let violations: [String]

  /// How many processes were killed.
  package var killed: Int { kills.reduce(0) { $0 + $1.count } }

  /// What it came to, a name and a value each.
  package var figures: [(name: String, value: String)] {
    [
      ("stored", "\(media.reduce(0) { $0 + $1.count }): \(Self.text(media))"),
      ("runs", "\(runs), each resumed until it was completed"),
      ("items", "\(done) made again, \(skipped) already as they should be, 0 failed"),
      ("processes killed", "\(killed): \(Self.text(kills))"),
      ("attempts by workers", "\(attempts), of which \(lost) were lost with their worker"),
      ("read meanwhile", "\(readMedia) posts and images with \(readFiles) files"),
      ("time", "\(Int(duration / .seconds(1))) s"),
      ("mixed, missing, made twice or left over", violations.isEmpty ? "none" : "\(violations.count) violations"),
    ]
  }

  private static func text(_ counts: [(title: String, count: Int)]) -> String {
    counts.map { "\($0.count) \($0.title)" }.joined(separator: ", ")
  }
}
